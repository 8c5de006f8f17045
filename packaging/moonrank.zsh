#compdef moonrank
# Completion of the command moonrank for zsh: commands and options as `moonrank --help` lists them, names of data sets as
# the program knows them, and files elsewhere.
_moonrank() {
  local -a found
  if (( CURRENT == 2 )); then
    found=(${(f)"$(moonrank --help | sed -nE 's/^ +moonrank ([a-z]+) .*/\1/p; s/^ +(--?[a-z-]+) .*/\1/p' | sort -u)"})
  elif [[ $words[2] == data && CURRENT -eq 3 ]]; then
    found=(list get)
  elif [[ $words[2] == kernel && CURRENT -eq 3 ]]; then
    found=(install remove)
  elif [[ $words[2] == data && $words[3] == get ]]; then
    found=(${(f)"$(moonrank data list 2>/dev/null | awk '/^[^ ]/ { print $1 }')"})
  elif [[ $words[CURRENT] == -* && ! -e $words[2] ]]; then  # --help of a script would run it
    found=(${(f)"$(moonrank $words[2] --help 2>/dev/null | grep -oE -- '--[a-z-]+' | sort -u)"})
  fi
  (( $#found )) && compadd -- $found
  [[ $words[CURRENT] == -* ]] || _files
}
(( $+functions[compdef] )) && compdef _moonrank moonrank
[[ $funcstack[1] != _moonrank ]] || _moonrank "$@"
