#include "runtime/lua/error_text.h"

namespace mr::lua {

void push_error_text(lua_State* L, int index) {
  luaL_checkstack(L, 4, nullptr);
  lua_pushvalue(L, index);
  if (lua_tolstring(L, -1, nullptr) != nullptr) return;
  if (luaL_getmetafield(L, -1, "__tostring") != LUA_TNIL) {
    lua_pushvalue(L, -2);
    if (lua_pcall(L, 1, 1, 0) == LUA_OK && lua_type(L, -1) == LUA_TSTRING) {
      lua_remove(L, -2);
      return;
    }
    lua_pop(L, 1);
  }
  lua_pushfstring(L, "(error object is a %s value)", lua_typename(L, lua_type(L, -1)));
  lua_remove(L, -2);
}

int error_text(lua_State* L) {
  lua_settop(L, 1);
  push_error_text(L, 1);
  return 1;
}

}  // namespace mr::lua
