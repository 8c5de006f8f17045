#include "runtime/lua/plain_nan.h"

#include <cmath>
#include <limits>

namespace mr::lua {
namespace {

/// Calls a function of Lua's library (upvalue 1) after removing the sign of NaN arguments. It is called within this C
/// frame, so that its errors have the position of the script.
int without_sign(lua_State* L) {
  for (int i = 1, n = lua_gettop(L); i <= n; ++i) {
    if (lua_type(L, i) != LUA_TNUMBER || !std::isnan(lua_tonumber(L, i))) continue;
    lua_pushnumber(L, std::numeric_limits<double>::quiet_NaN());
    lua_replace(L, i);
  }
  return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

/// Replaces the named function in the table on top of the stack by `without_sign`, which calls it. If another program
/// has already put its own function there, that function stays: it is written in Lua or has upvalues, unlike Lua's own.
void wrap(lua_State* L, const char* name) {
  const int table = lua_gettop(L);
  lua_getfield(L, -1, name);
  if (lua_iscfunction(L, -1) == 0 || lua_getupvalue(L, -1, 1) != nullptr) {
    lua_settop(L, table);
    return;
  }
  lua_pushcclosure(L, &without_sign, 1);
  lua_setfield(L, -2, name);
}

}  // namespace

void print_plain_nan(lua_State* L) {
  lua_pushglobaltable(L);
  wrap(L, "print");
  wrap(L, "tostring");
  lua_getfield(L, -1, "string");
  wrap(L, "format");
  lua_pop(L, 1);
  lua_getfield(L, -1, "io");
  wrap(L, "write");
  lua_pop(L, 2);
  luaL_getmetatable(L, LUA_FILEHANDLE);
  lua_getfield(L, -1, "__index");
  wrap(L, "write");
  lua_pop(L, 2);
}

}  // namespace mr::lua
