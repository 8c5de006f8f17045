#!/bin/sh
# Cross compiles the program, its libraries and the tests for aarch64 into build/aarch64. Then runs these under qemu:
# the C++ tests of the kernels, fingerprints of results, and some specs. The arguments are Debian's packages of
# libraries. Needs root, mmdebstrap, g++-aarch64-linux-gnu and qemu-user.
set -eu
cd "$(dirname "$0")/.."
root=build/aarch64-root
included=$(echo "$@" | tr -s ' ' ',')
if [ "$(cat "$root/included" 2>/dev/null)" != "$included" ]; then
  rm -rf "$root" "$root.new"
  mkdir -p build
  mmdebstrap --quiet --variant=extract --architectures=arm64 --include="$included" bookworm "$root.new"
  # absolute links would lead out of the folder to files of this machine: they become relative
  find "$root.new/usr/lib" -type l -lname '/*' | while read -r link; do
    ln -sfn "$(realpath -ms --relative-to="$(dirname "$link")" "$root.new$(readlink "$link")")" "$link"
  done
  echo "$included" >"$root.new/included"
  mv "$root.new" "$root"
fi
cmake --preset aarch64 >build/configure-aarch64.log 2>&1 || { cat build/configure-aarch64.log >&2; exit 1; }
cmake --build --preset aarch64

# a script that runs the program under qemu, for tests that start the program
emulator="qemu-aarch64 -L $PWD/$root"
printf '#!/bin/sh\nexec %s "$@"\n' "$emulator $PWD/build/aarch64/moonrank" >build/aarch64/moonrank-under-qemu
chmod +x build/aarch64/moonrank-under-qemu
export MOONRANK="$PWD/build/aarch64/moonrank-under-qemu" MOONRANK_SAMPLES_GIB=0

# Catch's option -# gives each test file a tag with its name. Two of these names also occur in other folders, so
# [kernels] is added for them. The three files left out take minutes under qemu; the fingerprints of long lists test the
# same loops.
kernel_tests=$(find tests/kernels -name '*_test.cpp' ! -path '*/emulated/*' |
  grep -vE '/(box|front_rows|near_pairs)_test' |
  sed 's|.*/\(.*\)\.cpp|[#\1]|; s/\[#\(replay\|catalogue\)_test\]/&[kernels]/' | paste -sd,)
$emulator build/aarch64/moonrank_tests -# "$kernel_tests"

# fingerprints of results: one in forty of those of bounds and of losses under bounds, and all others
"$MOONRANK" --threads 2 tests/support/numerics.lua --parts 40 --part 0 >build/aarch64/numerics.txt
if grep -vxFf tests/golden/numerics.txt build/aarch64/numerics.txt; then
  echo "aarch64: these fingerprints are not in tests/golden/numerics.txt" >&2
  exit 1
fi
echo "aarch64: $(wc -l <build/aarch64/numerics.txt) fingerprints are equal"

for spec in metrics lists tensor optim; do
  "$MOONRANK" test "tests/stdlib/moonrank/${spec}_spec.lua"
done
