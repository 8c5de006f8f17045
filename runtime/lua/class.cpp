#include "runtime/lua/class.h"

namespace mr::lua {
namespace {

/// __index: x.name is a method, else a getter's value; x[i] calls the getter "[]". Other names go to the metatable's
/// __missing, if the standard library has set one. Upvalues: methods, getters, class name.
int index(lua_State* L) {
  lua_pushvalue(L, 2);
  if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) return 1;
  const bool by_number = lua_type(L, 2) == LUA_TNUMBER;
  if (by_number) {
    lua_pushliteral(L, "[]");
  } else {
    lua_pushvalue(L, 2);
  }
  if (lua_rawget(L, lua_upvalueindex(2)) != LUA_TNIL) {
    lua_pushvalue(L, 1);
    if (by_number) lua_pushvalue(L, 2);
    lua_call(L, by_number ? 2 : 1, 1);
    return 1;
  }
  if (luaL_getmetafield(L, 1, "__missing") == LUA_TFUNCTION) {
    lua_pushvalue(L, 1);
    lua_pushvalue(L, 2);
    lua_call(L, 2, 0);  // __missing raises an error
  }
  push_script_position(L);
  lua_pushfstring(L, "%s has no field '", lua_tostring(L, lua_upvalueindex(3)));
  // The field's name is added to the message by luaL_tolstring, because a zero byte would end a format string.
  luaL_tolstring(L, 2, nullptr);
  lua_pushliteral(L, "'");
  lua_concat(L, 3);
  lua_concat(L, 2);
  return lua_error(L);
}

void push_row(lua_State* L, const OpRow& row) {
  lua_pushlightuserdata(L, const_cast<OpRow*>(&row));  // NOLINT: the row is only read, through upvalue 1
  lua_pushcclosure(L, row.function, 1);
}

/// Gives the metatable on top of the stack an __index with tables for methods and getters, if it has none.
void ensure_index(lua_State* L) {
  if (lua_getfield(L, -1, "__index") != LUA_TNIL) {
    lua_pop(L, 1);
    return;
  }
  lua_pop(L, 1);
  lua_newtable(L);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, "methods");
  lua_newtable(L);
  lua_pushvalue(L, -1);
  lua_setfield(L, -4, "getters");
  lua_getfield(L, -3, "__name");
  lua_pushcclosure(L, &index, 3);
  lua_setfield(L, -2, "__index");
  lua_getfield(L, -1, "__gc");
  lua_setfield(L, -2, "__close");
}

}  // namespace

void add_rows(lua_State* L, const std::vector<OpRow>& rows) {
  for (const OpRow& row : rows) {
    push_row(L, row);
    lua_setfield(L, -2, row.name);
  }
}

void add_to_class(lua_State* L, const OpTable& table) {
  table.metatable(L);
  ensure_index(L);
  const char* const field = table.kind == OpTable::methods   ? "methods"
                            : table.kind == OpTable::getters ? "getters"
                                                             : nullptr;
  if (field != nullptr) lua_getfield(L, -1, field);
  add_rows(L, table.rows);
  if (field != nullptr) lua_pop(L, 1);
  // Sets classes[name] = {methods =, getters =, meta =}: the standard library may extend the class there. Scripts
  // cannot reach the metatable.
  lua_getfield(L, -1, "__name");
  lua_createtable(L, 0, 3);
  lua_getfield(L, -3, "methods");
  lua_setfield(L, -2, "methods");
  lua_getfield(L, -3, "getters");
  lua_setfield(L, -2, "getters");
  lua_pushvalue(L, -3);
  lua_setfield(L, -2, "meta");
  lua_settable(L, -4);
  lua_pop(L, 1);
}

}  // namespace mr::lua
