#!/bin/sh
# Tries the packages in the folder $1 in an empty Debian 12 without a compiler, as an ordinary user. Needs root and
# debootstrap. The tarball, the wheel and the .deb each run README.md's experiment, and a sweep over two folds that is
# interrupted and resumed. The experiment runs on MovieLens if the folder MOONRANK_DATA or ../shared/data has it, and
# must print what README.md shows. Otherwise it runs on made-up ratings.
set -eu
here=$(realpath "$(dirname "$0")")
movielens=${MOONRANK_DATA:-$here/../../shared/data}/ml-latest-small
# The caller's MOONRANK_DATA and similar variables name folders that the clean root does not have.
for name in $(env | sed -n 's/^\(MOONRANK[A-Z_]*\)=.*/\1/p'); do unset "$name"; done
packages=$(realpath "$1")
root=$(mktemp -d /var/tmp/moonrank-root-XXXXXX)
chmod 755 "$root"
trap 'umount "$root/proc" 2>/dev/null || true; rm -rf "$root"' EXIT

debootstrap --variant=minbase --include=python3-numpy,python3-venv bookworm "$root" >"$root.log" 2>&1 \
  || { tail "$root.log"; exit 1; }
rm -f "$root.log"
mount -t proc proc "$root/proc"
cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
mkdir "$root/packages"
cp "$packages"/* "$here/try.lua" "$here/try.sh" "$here/as_program.py" "$root/packages/"

# Prints the code in this language from the section "An experiment" of README.md.
experiment() {
  sed -n '/^## An experiment$/,/^## A sweep$/p' "$here/../README.md" |
    sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" | sed '/^```/d'
}
mkdir "$root/data"
echo 'local mr = require "moonrank"' >"$root/packages/experiment.lua"
if [ -d "$movielens" ]; then
  cp -r "$movielens" "$root/data/"
  chmod -R a+rX "$root/data"
  experiment output >"$root/packages/experiment.txt"
else
  echo "no MovieLens in $movielens: README.md's experiment runs on made-up ratings, and its output is not compared"
  cat >>"$root/packages/experiment.lua" <<'END'
mr.data.movielens = function()
  return mr.data.synthetic{ kind = "ratings", users = 60, items = 400, mean_activity = 90, seed = 1 }
end
END
fi
experiment lua >>"$root/packages/experiment.lua"
grep -q 'mr.fit' "$root/packages/experiment.lua" || { echo "no experiment is found in README.md"; exit 1; }

chroot "$root" useradd -m someone
for tool in cc c++ gcc g++ clang cmake lua5.4; do
  if chroot "$root" sh -c "command -v $tool"; then echo "the root has $tool"; exit 1; fi
done

as_someone() { chroot "$root" su someone -c "cd && export MOONRANK_DATA=/data && $1"; }

echo "== tarball"
as_someone "tar xzf /packages/*.tar.gz && sh /packages/try.sh \$HOME/moonrank-*/bin/moonrank"
echo "== wheel"
# --no-index: pip needs no network, because NumPy is Debian's
as_someone "python3 -m venv --system-site-packages env && env/bin/pip install --no-index /packages/*.whl &&
  PATH=\$HOME/env/bin:\$PATH sh /packages/try.sh /packages/as_program.py"
install_and_try() {
  name=${1##*/}
  echo "== $name"
  chroot "$root" apt-get install -y -qq --no-install-recommends "/packages/${1##*/}" >"$root/log" 2>&1 \
    || { cat "$root/log"; exit 1; }
  as_someone "sh /packages/try.sh moonrank"
  for file in copyright licenses/eigen.txt licenses/libstdc++.txt; do
    [ -s "$root/usr/share/doc/${name%%_*}/$file" ] || { echo "$name lacks $file"; exit 1; }
  done
  chroot "$root" moonrank --version
}
# moonrank-cuda replaces the package moonrank; it must also run without a GPU
for package in "$packages"/moonrank_*.deb "$packages"/moonrank-cuda_*.deb; do
  [ ! -e "$package" ] || install_and_try "$package"
done
echo "all packages work"
