#!/bin/sh
# Tries the packages in the folder $1 in an empty Debian 12 without a compiler, as an ordinary user. Needs root and
# debootstrap. The tarball, the wheel and the .deb each evaluate a list, train a model, and run a sweep over two folds that
# is interrupted and resumed.
set -eu
# The caller's MOONRANK_DATA and similar variables name folders that the clean root does not have.
for name in $(env | sed -n 's/^\(MOONRANK[A-Z_]*\)=.*/\1/p'); do unset "$name"; done
packages=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
root=$(mktemp -d /var/tmp/moonrank-root-XXXXXX)
chmod 755 "$root"
trap 'umount "$root/proc" 2>/dev/null || true; rm -rf "$root"' EXIT

debootstrap --variant=minbase --include=python3-numpy bookworm "$root" >"$root.log" 2>&1 || { tail "$root.log"; exit 1; }
rm -f "$root.log"
mount -t proc proc "$root/proc"
cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
mkdir "$root/packages"
cp "$packages"/* "$here/try.lua" "$here/try.sh" "$here/as_program.py" "$root/packages/"
chroot "$root" useradd -m someone
for tool in cc c++ gcc g++ clang cmake lua5.4; do
  if chroot "$root" sh -c "command -v $tool"; then echo "the root has $tool"; exit 1; fi
done

as_someone() { chroot "$root" su someone -c "cd && $1"; }

echo "== tarball"
as_someone "tar xzf /packages/*.tar.gz && sh /packages/try.sh \$HOME/moonrank-*/bin/moonrank"
echo "== wheel"
as_someone "python3 -m zipfile -e /packages/*.whl site && PYTHONPATH=\$HOME/site sh /packages/try.sh /packages/as_program.py"
install_and_try() {
  echo "== ${1##*/}"
  chroot "$root" apt-get install -y -qq --no-install-recommends "/packages/${1##*/}" >"$root/log" 2>&1 \
    || { cat "$root/log"; exit 1; }
  as_someone "sh /packages/try.sh moonrank"
  chroot "$root" moonrank --version
}
# moonrank-cuda replaces the package moonrank; it must also run without a GPU
for package in "$packages"/moonrank_*.deb "$packages"/moonrank-cuda_*.deb; do
  [ ! -e "$package" ] || install_and_try "$package"
done
echo "all packages work"
