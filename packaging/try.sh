#!/bin/sh
# Tries the program $1: runs README.md's experiment (experiment.lua), and compares what it prints with experiment.txt if
# that is there. Then it starts a sweep, interrupts it after its first trial, and resumes it.
set -eu
here=$(dirname "$0")
folder=$(mktemp -d)
store=$folder/results.db
trials() {
  found=$("$1" results "$store" 2>/dev/null | sed -nE 's/^packages: ([0-9]+) done.*/\1/p')
  echo "${found:-0}"
}
"$1" "$here/experiment.lua" >"$folder/experiment" 2>"$folder/errors" || { cat "$folder/errors"; exit 1; }
cat "$folder/experiment"
[ ! -e "$here/experiment.txt" ] || diff "$here/experiment.txt" "$folder/experiment"
# background jobs of a shell ignore SIGINT; `env` restores the default, so that the sweep can be interrupted
setsid env --default-signal=INT "$1" "$here/try.lua" "$store" >"$folder/first" 2>&1 &
running=$!
while kill -0 "$running" 2>/dev/null && [ "$(trials "$1")" -lt 1 ]; do sleep 0.1; done
kill -INT "$running" 2>/dev/null || true
wait "$running" || true
before=$(trials "$1")
"$1" "$here/try.lua" "$store" >"$folder/second" 2>&1
echo "interrupted after $before of 4 trials, then resumed to $(trials "$1")"
grep -v '^packages' "$folder/second"
[ "$before" -ge 1 ] && [ "$before" -lt 4 ] && [ "$(trials "$1")" -eq 4 ]
