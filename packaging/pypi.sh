#!/bin/sh
# Tests the Python package together with packages from PyPI, which are in the virtual environment $3: all tests of
# python/, those of journals for Optuna, and the notebooks of examples/notebooks. The tests use the program and the
# library of the build folder $1, and the notebooks use the wheel in the folder $2. A test that is skipped is an error.
set -eu
cd "$(dirname "$0")/.."
build=$(realpath "$1")
wheel=$(realpath "$2"/moonrank-*.whl)
python=$(realpath "$3")/bin/python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export MOONRANK="$build/moonrank" PYTHONDONTWRITEBYTECODE=1

# Runs the command in $2 and later arguments, and shows what it prints. Ends with an error if the command fails, or if
# its output has the pattern $1, which skipped tests print.
run_all() {
  skipped=$1
  shift
  "$@" >"$work/printed" 2>&1 || { cat "$work/printed"; exit 1; }
  cat "$work/printed"
  ! grep -qE "$skipped" "$work/printed" || { echo "pypi.sh: a test was skipped; install what it needs"; exit 1; }
}

echo "== tests of the Python package"
(cd python && MOONRANK_LIBRARY="$build/libmoonrank.so" run_all '^SKIPPED' "$python" -m pytest -q -p no:cacheprovider)
echo "== tests of journals for Optuna"
PATH="$(dirname "$python"):$PATH" run_all '[1-9][0-9]* skipped' "$MOONRANK" test \
  tests/stdlib/moonrank/sweep/optuna_spec.lua
echo "== notebooks"
"$python" -m pip install --quiet --force-reinstall --no-deps "$wheel"
cp examples/notebooks/*.ipynb "$work"
cd "$work"
"$python" -m moonrank.kernel install
"$python" -m nbconvert --to notebook --execute --output-dir executed ./*.ipynb
