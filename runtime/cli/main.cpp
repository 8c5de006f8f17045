// The command `moonrank`.
#include <cstdio>
#include <cstring>

#include "runtime/lua/state.h"

namespace {

/// Everything after `main` runs protected. Arguments: argc, argv as light values; returns the exit status.
int protected_main(lua_State* L) {
  const int argc = static_cast<int>(lua_tointeger(L, 1));
  char** const argv = static_cast<char**>(lua_touserdata(L, 2));
  lua_settop(L, 0);
  mr::lua::open(L);
  lua_pushcfunction(L, &mr::lua::traceback);
  const bool is_code = argc > 2 && std::strcmp(argv[1], "-e") == 0;
  const int script = argc > 2 && (is_code || std::strcmp(argv[1], "test") == 0) ? 2 : 1;
  lua_createtable(L, argc, 0);
  for (int i = 0; i < argc; ++i) {
    lua_pushstring(L, argv[i]);
    lua_rawseti(L, -2, i - script);
  }
  lua_setglobal(L, "arg");
  if (argc <= script) return luaL_error(L, "usage: moonrank SCRIPT.lua | moonrank test SPEC.lua | moonrank -e CODE");
  if (is_code) luaL_dostring(L, "mr = require 'moonrank'");
  int status = is_code ? luaL_loadstring(L, argv[script]) : luaL_loadfilex(L, argv[script], "t");
  if (status == LUA_OK) status = lua_pcall(L, 0, 0, 1);
  if (status != LUA_OK) std::fprintf(stderr, "moonrank: %s\n", lua_tostring(L, -1));
  if (status == LUA_OK && script == 2 && !is_code) {
    luaL_dostring(L, "return require('moonrank.test').finish()");
    status = lua_toboolean(L, -1) != 0 ? 0 : 1;
  }
  lua_pushinteger(L, status == LUA_OK ? 0 : 1);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  lua_State* const L = luaL_newstate();
  if (L == nullptr) {
    std::fputs("moonrank: out of memory\n", stderr);
    return 1;
  }
  lua_pushcfunction(L, &protected_main);
  lua_pushinteger(L, argc);
  lua_pushlightuserdata(L, argv);
  const int status = lua_pcall(L, 2, 1, 0);
  if (status != LUA_OK) std::fprintf(stderr, "moonrank: %s\n", lua_tostring(L, -1));
  const int result = status == LUA_OK ? static_cast<int>(lua_tointeger(L, -1)) : 1;
  lua_close(L);
  return result;
}
