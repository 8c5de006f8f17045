#include "runtime/lua/state.h"

#include <cstdlib>
#include <cstring>

#include "runtime/lua/bind.h"
#include "runtime/lua/class.h"
#include "runtime/lua/coroutines.h"
#include "runtime/lua/describe.h"
#include "runtime/lua/error_text.h"
#include "runtime/lua/interrupt.h"
#include "runtime/lua/plain_nan.h"

namespace mr::lua {
namespace {

/// Lua: find(name) -> text and chunk name of a file of the embedded standard library, or nil.
int find_embedded(lua_State* L) {
  const char* const name = luaL_checkstring(L, 1);
  int count = 0;
  const EmbeddedFile* const files = embedded_files(&count);
  for (int i = 0; i < count; ++i) {
    if (std::strcmp(files[i].name, name) != 0) continue;
    lua_pushlstring(L, files[i].text.data(), files[i].text.size());
    return 1;
  }
  return 0;
}

/// Lua: names of all embedded files, as a sequence.
int list_embedded(lua_State* L) {
  int count = 0;
  const EmbeddedFile* const files = embedded_files(&count);
  lua_createtable(L, count, 0);
  for (int i = 0; i < count; ++i) {
    lua_pushstring(L, files[i].name);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

/// The module moonrank.core: functions, and `classes`, where the standard library adds methods that are written in Lua.
int open_core(lua_State* L) {
  lua_createtable(L, 0, 64);
  for (const OpTable* const table : op_tables()) {
    if (table->kind == OpTable::functions) add_rows(L, table->rows);
  }
  lua_pushcfunction(L, &find_embedded);
  lua_setfield(L, -2, "embedded");
  lua_pushcfunction(L, &list_embedded);
  lua_setfield(L, -2, "embedded_names");
  lua_pushcfunction(L, &describe);
  lua_setfield(L, -2, "describe");
  lua_pushcfunction(L, &open_scope);
  lua_setfield(L, -2, "open_scope");
  lua_pushcfunction(L, &close_scope);
  lua_setfield(L, -2, "close_scope");
  lua_pushcfunction(L, &error_text);
  lua_setfield(L, -2, "error_text");
  lua_newtable(L);
  for (const OpTable* const table : op_tables()) {
    if (table->kind != OpTable::functions) add_to_class(L, *table);
  }
  lua_setfield(L, -2, "classes");
  return 1;
}

int stop_watching(lua_State*) {
  ignore_interrupts();
  return 0;
}

/// Created first, so it is collected last. A script may close the state (os.exit(0, true)), and Ctrl-C must not use it
/// afterwards.
void stop_watching_at_end(lua_State* L) {
  lua_newuserdatauv(L, 0, 0);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, &stop_watching);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  luaL_ref(L, LUA_REGISTRYINDEX);
}

}  // namespace

void open(lua_State* L) {
  stop_watching_at_end(L);
  // Generational mode collects a batch's tensors soon, so that their memory is reused.
  lua_gc(L, LUA_GCGEN, 0, 0);
  luaL_openlibs(L);
  print_plain_nan(L);
  watch_coroutines(L);
  luaL_requiref(L, "moonrank.core", &open_core, 0);
  // Runs boot.lua, which gets the core and installs the functions by which `require` finds modules.
  lua_pushcfunction(L, &find_embedded);
  lua_pushliteral(L, "stdlib/boot.lua");
  lua_call(L, 1, 1);
  size_t length = 0;
  const char* const text = lua_tolstring(L, -1, &length);
  if (text == nullptr || luaL_loadbufferx(L, text, length, "@stdlib/boot.lua", "t") != LUA_OK) lua_error(L);
  lua_pushvalue(L, -3);
  lua_call(L, 1, 0);
  lua_pop(L, 2);
}

}  // namespace mr::lua
