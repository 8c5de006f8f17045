-- For `luarocks --lua-version 5.4 make` in this folder: builds the module moonrank.so for Lua 5.4 in build/release, without
-- CUDA unless that folder was configured before. The file bootstrap names the Debian packages that the build needs.
-- packaging/rock.sh tests this.
rockspec_format = "3.0"
package = "moonrank"
version = "0.2.0-1"
source = { url = "file://." }
description = { summary = "Learning-to-rank research in Lua: losses, metrics, bounds and sweeps",
  license = "Apache-2.0" }
dependencies = { "lua == 5.4" }
build = {
  type = "command",
  build_command = "test -e build/release/CMakeCache.txt || cmake --preset release -DMR_CUDA=OFF -DBUILD_TESTING=OFF;"
    .. " cmake --build --preset release --target moonrank_lua",
  install_command = "install -D -m 755 build/release/moonrank.so $(LIBDIR)/moonrank.so",
}
