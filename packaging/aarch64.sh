#!/bin/sh
# Cross compiles the program for aarch64 into build/aarch64. Then compares the fingerprints of results, and runs some
# specs, under qemu. The arguments are Debian's packages of libraries. Needs root,
# mmdebstrap, g++-aarch64-linux-gnu and qemu-user.
set -eu
cd "$(dirname "$0")/.."
root=build/aarch64-root
if [ ! -d "$root" ]; then
  rm -rf "$root.new"
  mkdir -p build
  included=$(echo "$@" | tr -s ' ' ',')
  mmdebstrap --quiet --variant=extract --architectures=arm64 --include="$included" bookworm "$root.new"
  # links that begin with / lead out of the folder
  find "$root.new/usr/lib" -type l -lname '/*' | while read -r link; do
    ln -sfn "$(realpath -ms --relative-to="$(dirname "$link")" "$root.new$(readlink "$link")")" "$link"
  done
  mv "$root.new" "$root"
fi
cmake --preset aarch64 >build/configure-aarch64.log 2>&1 || { cat build/configure-aarch64.log >&2; exit 1; }
cmake --build --preset aarch64

# the program as other programs start it
run="qemu-aarch64 -L $PWD/$root $PWD/build/aarch64/moonrank"
printf '#!/bin/sh\nexec %s "$@"\n' "$run" >build/aarch64/moonrank-under-qemu
chmod +x build/aarch64/moonrank-under-qemu
export MOONRANK="$PWD/build/aarch64/moonrank-under-qemu" MOONRANK_SAMPLES_GIB=0

for spec in numerics moonrank/metrics moonrank/lists moonrank/tensor moonrank/optim; do
  "$MOONRANK" test "tests/stdlib/${spec}_spec.lua"
done
