#!/bin/sh
# Installs the build folder $1 into a temporary folder, builds the example there with find_package, and runs what was
# installed: the program, the example, the completions.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cmake --install "$1" --prefix "$folder/prefix" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
source=$(dirname "$0")/../../examples/embed
build_example() {
  cmake -S "$source" -B "$folder/example" -DCMAKE_PREFIX_PATH="$folder/prefix" && cmake --build "$folder/example"
}
build_example >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
"$folder/example/example" >"$folder/printed"
cat "$folder/printed"
# the example prints three lines; training ends at the largest exact nDCG, 1
[ "$(wc -l <"$folder/printed")" -eq 3 ]
tail -n 1 "$folder/printed" | grep -q "nDCG 1.0000"
PATH="$folder/prefix/bin:$PATH"
[ "$(moonrank -e 'print(1 + 1)')" = 2 ]
complete_after() {
  bash -c '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _moonrank; printf "%s\n" "${COMPREPLY[@]}"' \
    "$folder/prefix/share/bash-completion/completions/moonrank" "$@"
}
complete_after moonrank do | grep -qx doc
complete_after moonrank data "" | grep -qx get
complete_after moonrank kernel "" | grep -qx install
complete_after moonrank eval --comp | grep -qx -e --compare
# completion runs no script
echo 'print "--ran"' >"$folder/script.lua"
[ -z "$(complete_after moonrank "$folder/script.lua" --r)" ]
# names only, and no words of their descriptions
[ "$(complete_after moonrank data get "" | grep -cx -e movielens -e in -e not)" -eq 1 ]

# the completions of zsh and fish must offer the same words, if these shells are installed
if command -v fish >/dev/null; then
  fish_words() {
    fish --no-config -c 'source $argv[1]; complete -C $argv[2]' \
      "$folder/prefix/share/fish/vendor_completions.d/moonrank.fish" "$1"
  }
  fish_words "moonrank do" | grep -qx doc
  fish_words "moonrank data " | grep -qx get
  fish_words "moonrank kernel " | grep -qx install
  fish_words "moonrank eval --comp" | grep -qx -e --compare
else
  echo "SKIPPED: fish is not installed"
fi
if command -v zsh >/dev/null; then
  zsh_words() {
    zsh -fc 'compadd() { shift; print -l -- "$@"; }; _files() { :; }
      source $1; shift; words=("$@"); CURRENT=$#; _moonrank' \
      zsh "$folder/prefix/share/zsh/vendor-completions/_moonrank" "$@"
  }
  zsh_words moonrank do | grep -qx doc
  zsh_words moonrank data "" | grep -qx get
  zsh_words moonrank kernel "" | grep -qx install
  zsh_words moonrank eval --comp | grep -qx -e --compare
else
  echo "SKIPPED: zsh is not installed"
fi
