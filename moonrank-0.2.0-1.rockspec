-- For `luarocks make` in this folder: builds the module moonrank.so for Lua 5.4. The file bootstrap names the Debian
-- packages that the build needs.
rockspec_format = "3.0"
package = "moonrank"
version = "0.2.0-1"
source = { url = "file://." }
description = { summary = "Learning-to-rank research in Lua: losses, metrics, bounds and sweeps",
  license = "Apache-2.0" }
dependencies = { "lua == 5.4" }
build = {
  type = "command",
  build_command = "cmake -S . -B build/luarocks -G Ninja -DCMAKE_BUILD_TYPE=Release -DMR_FOLDERS=ON -DMR_CUDA=OFF"
    .. " -DBUILD_TESTING=OFF && cmake --build build/luarocks --target moonrank_lua",
  install_command = "install -D -m 755 build/luarocks/moonrank.so $(LIBDIR)/moonrank.so",
}
