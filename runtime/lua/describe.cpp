#include "runtime/lua/describe.h"

#include "runtime/lua/bind.h"

namespace mr::lua {
namespace {

/// Returns the OpRow of a C++ function that Lua can call, from its upvalue 1. Returns null for other functions, whose
/// upvalue 1 is not a row of an op table.
const OpRow* row_of(lua_State* L, int index) {
  if (lua_iscfunction(L, index) == 0 || lua_getupvalue(L, index, 1) == nullptr) return nullptr;
  const void* const held = lua_type(L, -1) == LUA_TLIGHTUSERDATA ? lua_touserdata(L, -1) : nullptr;
  lua_pop(L, 1);
  for (const OpTable* const table : op_tables()) {
    for (const OpRow& row : table->rows) {
      if (&row == held) return &row;
    }
  }
  return nullptr;
}

void set_field(lua_State* L, const char* name, const char* value) {
  lua_pushstring(L, value);
  lua_setfield(L, -2, name);
}

}  // namespace

int describe(lua_State* L) {
  luaL_checkany(L, 1);
  const OpRow* const row = row_of(L, 1);
  if (row == nullptr) return 0;
  lua_createtable(L, 0, 4);
  set_field(L, "name", row->name);
  set_field(L, "arguments", row->arguments);
  set_field(L, "doc", row->doc);
  // The list of types is stored in a box (userdata), so that a Lua error while its strings are pushed does not leak it.
  Result<std::vector<std::string>>::reserve(L);
  const int slot = lua_gettop(L);
  Result<std::vector<std::string>>::put(L, slot, row->types());
  Result<std::vector<std::string>>::finish(L, slot);
  lua_setfield(L, -2, "types");
  return 1;
}

}  // namespace mr::lua
