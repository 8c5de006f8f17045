# Bash completion of the command moonrank: commands and options as `moonrank --help` lists them, names of data sets as
# the program knows them, and files elsewhere.
_moonrank() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words=""
  case $before in
    get) [ "${COMP_WORDS[1]}" = data ] && words=$(moonrank data list 2>/dev/null | awk '/^[^ ]/ { print $1 }') ;;
    data) words="list get" ;;
    kernel) words="install remove" ;;
    *)
      if [ "$COMP_CWORD" -eq 1 ]; then
        words=$(moonrank --help | sed -nE 's/^ +moonrank ([a-z]+) .*/\1/p; s/^ +(--?[a-z-]+) .*/\1/p' | sort -u)
      elif [[ $word == -* && ! -e ${COMP_WORDS[1]} ]]; then  # --help of a script would run it
        words=$(moonrank "${COMP_WORDS[1]}" --help 2>/dev/null | grep -oE -- '--[a-z-]+' | sort -u)
      fi
      ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word"; [[ $word == -* ]] || compgen -f -- "$word")
}
complete -o filenames -F _moonrank moonrank
