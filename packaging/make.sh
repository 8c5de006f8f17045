#!/bin/sh
# Builds all packages from the build folder $1 into the folder $2. If that build has CUDA, a second build in $1-cpu makes
# the .deb without it.
set -eu
build=$(realpath "$1")
mkdir -p "$2"
packages=$(realpath "$2")
root=$(realpath "$(dirname "$0")/..")
cd "$root"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CMakeLists.txt)
export SOURCE_DATE_EPOCH
rm -rf "${packages:?}"/*
cmake --build "$build" --target moonrank moonrank_shared moonrank_lua moonrank_portable
version=$(sed -nE 's/^CMAKE_PROJECT_VERSION:[A-Z]+=(.*)/\1/p' "$build/CMakeCache.txt")

make_deb() { (cd "$1" && cpack -G DEB -B "$packages" >/dev/null && rm -rf "$packages/_CPack_Packages"); }
make_deb "$build"
if [ -e "$packages/moonrank-cuda_"*.deb ]; then
  cmake --preset release -B "$build-cpu" -DMR_CUDA=OFF -DBUILD_TESTING=OFF >/dev/null
  cmake --build "$build-cpu" --target moonrank moonrank_shared moonrank_lua
  make_deb "$build-cpu"
fi

name=moonrank-$version-linux-$(uname -m)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
cmake --install "$build" --prefix "$stage/$name" --component Unspecified >/dev/null
rm -rf "${stage:?}/$name/lib"
strip -o "$stage/$name/bin/moonrank" "$build/portable/moonrank"
licenses=$stage/$name/share/doc/moonrank/licenses
mkdir -p "$licenses"
"$build/moonrank" packaging/licenses.lua "$licenses"

# Ends with an error if a file has the path of the sources in it, which differs on other machines, or needs glibc after
# 2.34 or a library that is not listed in the arguments.
check_needs() {
  file=$1
  shift
  ! grep -qF "$root/" "$file" || { echo "$file names the folder $root"; exit 1; }
  newest=$(objdump -T "$file" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
  [ "$(printf '%s\nGLIBC_2.34\n' "$newest" | sort -V | tail -n 1)" = GLIBC_2.34 ] || { echo "$file needs $newest"; exit 1; }
  for library in $(objdump -p "$file" | sed -nE 's/^ *NEEDED *//p'); do
    case " libc.so.6 libm.so.6 libgcc_s.so.1 ld-linux-x86-64.so.2 $* " in
      *" $library "*) ;;
      *) echo "$file needs $library"; exit 1 ;;
    esac
  done
}
check_needs "$stage/$name/bin/moonrank"
tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "$stage" -cf - "$name" | gzip -9n \
  >"$packages/$name.tar.gz"

strip -o "$stage/libmoonrank.so" "$build/libmoonrank.so"
python3 python/wheel.py --version "$version" --library "$stage/libmoonrank.so" --licenses "$licenses" \
  --out "$packages"
# the library and those that the wheel bundles beside it
python3 -m zipfile -e "$packages"/moonrank-*.whl "$stage/wheel"
for file in "$stage/wheel/moonrank/"*.so*; do
  check_needs "$file" mr-lua5.4.so.0 mr-nettle.so.8 mr-sqlite3.so.0 mr-xxhash.so.0 libz.so.1
done
"$build/moonrank" packaging/sbom.lua "$version" "$build" >"$packages/moonrank-$version.cdx.json"
(cd "$packages" && sha256sum ./*)
