#!/bin/sh
# Builds all packages from the build folder $1 into the folder $2.
set -eu
build=$(realpath "$1")
mkdir -p "$2"
packages=$(realpath "$2")
root=$(realpath "$(dirname "$0")/..")
cd "$root"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CMakeLists.txt)
export SOURCE_DATE_EPOCH
rm -f "$packages"/*
cmake --build "$build" --target moonrank moonrank_shared moonrank_portable moonrank_documents
version=$(sed -nE 's/^CMAKE_PROJECT_VERSION:[A-Z]+=(.*)/\1/p' "$build/CMakeCache.txt")

(cd "$build" && cpack -G DEB -B "$packages" >/dev/null && rm -rf "$packages/_CPack_Packages")

name=moonrank-$version-linux-$(uname -m)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
cmake --install "$build" --prefix "$stage/$name" --component Unspecified >/dev/null
rm -rf "${stage:?}/$name/lib"
strip -o "$stage/$name/bin/moonrank" "$build/portable/moonrank"
tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "$stage" -cf - "$name" | gzip -9n \
  >"$packages/$name.tar.gz"

python3 python/wheel.py --version "$version" --library "$build/libmoonrank.so" --out "$packages"
"$build/moonrank" packaging/sbom.lua "$version" "$build" >"$packages/moonrank-$version.cdx.json"
(cd "$packages" && sha256sum ./*)
