#!/bin/sh
# Tries the rockspec: luarocks builds the module and installs it into an empty folder, and lua5.4 loads it from there.
set -eu
cd "$(dirname "$0")/.."
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
luarocks --lua-version 5.4 --tree "$tree" make
cd "$tree"
LUA_CPATH="$tree/lib/lua/5.4/?.so" lua5.4 - <<'END'
local mr = require "moonrank"
local found = mr.evaluate(mr.tensor{ 0.5, 2, 1 }, mr.lists{ { 0, 0, 1 } }, { "rr" })
assert(found.mean.rr == 0.5, "a relevant row in second place must give rr = 0.5")
print("luarocks installs moonrank " .. mr.version)
END
