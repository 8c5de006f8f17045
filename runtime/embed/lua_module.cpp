// The module for the plain Lua 5.4 interpreter, such as Debian's package lua5.4: `local mr = require "moonrank"`.
#include "runtime/lua/state.h"

extern "C" __attribute__((visibility("default"))) int luaopen_moonrank(lua_State* L) {
  luaL_checkversion(L);
  mr::lua::open_in_host(L);
  return 1;
}
