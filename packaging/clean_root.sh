#!/bin/sh
# Tries the packages in the folder $1 in an empty Debian 12 without a compiler, as an ordinary user. Needs root and
# debootstrap. What is tried: the .deb, the tarball and the wheel each run the first page's session, and a sweep that is
# interrupted and resumed.
set -eu
packages=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
root=$(mktemp -d /var/tmp/moonrank-root-XXXXXX)
trap 'umount "$root/proc" 2>/dev/null || true; rm -rf "$root"' EXIT

debootstrap --variant=minbase --include=python3-numpy bookworm "$root" >"$root.log" 2>&1 || { tail "$root.log"; exit 1; }
rm -f "$root.log"
mount -t proc proc "$root/proc"
cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
mkdir "$root/packages"
cp "$packages"/* "$here/try.lua" "$here/try.sh" "$root/packages/"
chroot "$root" useradd -m someone
if chroot "$root" sh -c 'command -v cc c++ gcc g++ cmake lua5.4'; then echo "the root has a compiler"; exit 1; fi

as_someone() { chroot "$root" su someone -c "cd && $1"; }

echo "== tarball"
as_someone "tar xzf /packages/*.tar.gz && sh /packages/try.sh \$HOME/moonrank-*/bin/moonrank"
echo "== wheel"
as_someone "python3 -m zipfile -e /packages/*.whl site && PYTHONPATH=site python3 -c '
import moonrank
print(moonrank.evaluate([3., 2., 1.], [0, 1, 0], [3], [\"rr\"]))
print(moonrank.lua(open(\"/packages/try.lua\").read() + \" return result\")[\"columns\"])
'"
echo "== .deb"
chroot "$root" apt-get install -y -qq --no-install-recommends $(cd "$root" && ls packages/*.deb | sed 's#^#/#') >/dev/null 2>&1
as_someone "sh /packages/try.sh moonrank"
chroot "$root" moonrank --version
echo "all packages work"
