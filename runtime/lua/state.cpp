#include "runtime/lua/state.h"

#include <clocale>
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

/// Lua: find(name) -> text and chunk name of a file of the embedded standard library, or nil if there is none.
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

/// Lua: returns the names of all embedded files, as a sequence.
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

/// Opens the module moonrank.core: functions, `classes`, where the standard library adds methods that are written in
/// Lua, and `public_names`, where it stores the names of its functions for errors.
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
  lua_newtable(L);
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "k");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, public_names);
  lua_setfield(L, -2, "public_names");
  return 1;
}

int stop_watching(lua_State*) {
  ignore_interrupts();
  return 0;
}

int stop_watching_host(lua_State* L) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  if (lua_tothread(L, -1) == watched_host()) watch_host(nullptr);
  return 0;
}

/// Calls `stop` when the Lua state is closed, by the finalizer of a new userdata. Lua runs finalizers in reverse order,
/// so the userdata is created before other objects and `stop` runs last. A script may close the state (os.exit(0,
/// true)); the signal handler of Ctrl-C must not use the state afterwards.
void call_at_end(lua_State* L, lua_CFunction stop) {
  lua_newuserdatauv(L, 0, 0);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, stop);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  luaL_ref(L, LUA_REGISTRYINDEX);
}

/// Adds the core module to a state that has Lua's libraries.
void open_library(lua_State* L, bool hosted) {
  // Generational mode frees the tensors of a batch soon, so that their memory is reused.
  lua_gc(L, LUA_GCGEN, 0, 0);
  print_plain_nan(L);
  watch_coroutines(L);
  luaL_requiref(L, "moonrank.core", &open_core, 0);
  // Runs boot.lua, which gets the core module and installs the functions by which `require` finds modules.
  lua_pushcfunction(L, &find_embedded);
  lua_pushliteral(L, "stdlib/boot.lua");
  lua_call(L, 1, 1);
  size_t length = 0;
  const char* const text = lua_tolstring(L, -1, &length);
  if (text == nullptr || luaL_loadbufferx(L, text, length, "@stdlib/boot.lua", "t") != LUA_OK) lua_error(L);
  lua_pushvalue(L, -3);
  lua_pushboolean(L, hosted ? 1 : 0);
  lua_call(L, 2, 0);
  lua_pop(L, 2);
}

void check_host(lua_State* L) {
  for (const char* const name :
       {"_G", "coroutine", "debug", "io", "math", "os", "package", "string", "table", "utf8"}) {
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    if (lua_getfield(L, -1, name) != LUA_TTABLE) {
      luaL_error(L,
                 "moonrank: Lua's library '%s' is not open in this state. Open Lua's libraries (luaL_openlibs) first",
                 name);
    }
    lua_pop(L, 2);
  }
  const char* const point = std::localeconv()->decimal_point;
  if (std::strcmp(point, ".") != 0) {
    luaL_error(L,
               "moonrank: the decimal point of the program's locale is '%s', expected '.', because numbers in files "
               "must not depend on the locale. Call os.setlocale('C', 'numeric') first",
               point);
  }
}

}  // namespace

void open(lua_State* L) {
  call_at_end(L, &stop_watching);
  luaL_openlibs(L);
  open_library(L, false);
}

void open_in_host(lua_State* L) {
  lua_settop(L, 0);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  if (lua_getfield(L, 1, "moonrank.core") == LUA_TNIL) {
    check_host(L);
    call_at_end(L, &stop_watching_host);
    open_library(L, true);
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
    watch_host(lua_tothread(L, -1));
  }
  lua_settop(L, 1);
  // Runs the loader of the standard library. It does not call `require "moonrank"`, because the caller runs in such a
  // `require`.
  if (lua_getfield(L, 1, "moonrank") == LUA_TTABLE) return;
  lua_getfield(L, 1, "moonrank.core");
  lua_getfield(L, -1, "load_library");
  lua_call(L, 0, 1);
}

}  // namespace mr::lua
