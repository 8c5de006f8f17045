#include "runtime/lua/coroutines.h"

#include <cstring>

#include "runtime/lua/interrupt.h"

namespace mr::lua {
namespace {

/// The address of this variable is a key of Lua's registry. The table under it has, for each coroutine, the names of
/// its open scopes: calls with a temporary setting, during which the coroutine must not yield.
constexpr char scopes_key = 0;

/// Pushes the table of names of a coroutine's open scopes, or nil if it has none. With `make`, a missing table is
/// created.
void push_scopes(lua_State* L, lua_State* coroutine, bool make) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &scopes_key);
  lua_pushthread(coroutine);
  if (coroutine != L) lua_xmove(coroutine, L, 1);
  lua_pushvalue(L, -1);
  if (lua_rawget(L, -3) == LUA_TNIL && make) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -2);
    lua_pushvalue(L, -2);
    lua_rawset(L, -5);
  }
  lua_replace(L, -3);
  lua_pop(L, 1);
}

bool has_scope(lua_State* L, lua_State* coroutine) {
  push_scopes(L, coroutine, false);
  const bool open = lua_type(L, -1) == LUA_TTABLE && lua_rawlen(L, -1) > 0;
  lua_pop(L, 1);
  return open;
}

/// Resumes a coroutine with the arguments on top of the stack and replaces them by its results. Returns the number of
/// results, or -1 for an error, which is then on top.
int run(lua_State* L, lua_State* coroutine, int arguments) {
  if (lua_checkstack(coroutine, arguments) == 0) {
    lua_pushliteral(L, "too many arguments to resume");
    return -1;
  }
  lua_xmove(L, coroutine, arguments);
  int results = 0;
  now_running(coroutine);
  const int status = lua_resume(coroutine, L, arguments, &results);
  now_running(L);
  if (status != LUA_OK && status != LUA_YIELD) {
    lua_xmove(coroutine, L, 1);
    return -1;
  }
  if (lua_checkstack(L, results + 1) == 0) {
    lua_pop(coroutine, results);
    lua_pushliteral(L, "too many results to resume");
    return -1;
  }
  lua_xmove(coroutine, L, results);
  return results;
}

lua_State* coroutine_at(lua_State* L, int index) {
  lua_State* const coroutine = lua_tothread(L, index);
  luaL_argexpected(L, coroutine != nullptr, index, "thread");
  return coroutine;
}

int reset(lua_State* L, lua_State* coroutine) {
  now_running(coroutine);  // closing the coroutine may run its Lua code (to-be-closed variables)
  const int status = lua_resetthread(coroutine);
  now_running(L);
  return status;
}

int resume(lua_State* L) {
  lua_State* const coroutine = coroutine_at(L, 1);
  const int results = run(L, coroutine, lua_gettop(L) - 1);
  if (results < 0 && has_scope(L, coroutine)) {
    reset(L, coroutine);
    lua_settop(coroutine, 0);
  }
  lua_pushboolean(L, results >= 0 ? 1 : 0);
  const int given = results >= 0 ? results : 1;
  lua_insert(L, -given - 1);
  return given + 1;
}

/// The function that coroutine.wrap returns: resumes the coroutine, which is upvalue 1.
int call_wrapped(lua_State* L) {
  lua_State* const coroutine = lua_tothread(L, lua_upvalueindex(1));
  const int results = run(L, coroutine, lua_gettop(L));
  if (results >= 0) return results;
  int status = lua_status(coroutine);
  if (status != LUA_OK && status != LUA_YIELD) {
    status = reset(L, coroutine);
    lua_xmove(coroutine, L, 1);  // the error that ended the coroutine, or an error of a to-be-closed variable
  }
  const bool is_text = lua_type(L, -1) == LUA_TSTRING;
  if (is_text && status != LUA_ERRMEM && std::strcmp(lua_tostring(L, -1), "interrupted") != 0) {
    luaL_where(L, 1);
    lua_insert(L, -2);
    lua_concat(L, 2);
  }
  return lua_error(L);
}

int wrap(lua_State* L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_State* const coroutine = lua_newthread(L);
  lua_pushvalue(L, 1);
  lua_xmove(L, coroutine, 1);
  lua_pushcclosure(L, &call_wrapped, 1);
  return 1;
}

/// Returns true if the coroutine has started and has resumed another one ("normal" in Lua's terms).
bool is_normal(lua_State* coroutine) {
  lua_Debug frame;
  return lua_status(coroutine) == LUA_OK && lua_getstack(coroutine, 0, &frame) != 0;
}

int close(lua_State* L) {
  lua_State* const coroutine = coroutine_at(L, 1);
  if (coroutine == L || is_normal(coroutine)) {
    return luaL_error(L, "cannot close a %s coroutine", coroutine == L ? "running" : "normal");
  }
  const bool good = reset(L, coroutine) == LUA_OK;
  lua_pushboolean(L, good ? 1 : 0);
  if (good) return 1;
  lua_xmove(coroutine, L, 1);
  return 2;
}

int yield(lua_State* L) {
  push_scopes(L, L, false);
  const lua_Integer open = lua_type(L, -1) == LUA_TTABLE ? static_cast<lua_Integer>(lua_rawlen(L, -1)) : 0;
  if (open > 0) {
    lua_rawgeti(L, -1, open);
    return luaL_error(L, "attempt to yield within '%s': its setting would stay in force in other coroutines",
                      lua_tostring(L, -1));
  }
  lua_pop(L, 1);
  return lua_yield(L, lua_gettop(L));
}

}  // namespace

int open_scope(lua_State* L) {
  luaL_checkstring(L, 1);
  push_scopes(L, L, true);
  lua_pushvalue(L, 1);
  lua_rawseti(L, -2, static_cast<lua_Integer>(lua_rawlen(L, -2)) + 1);
  return 0;
}

int close_scope(lua_State* L) {
  push_scopes(L, L, true);
  lua_pushnil(L);
  lua_rawseti(L, -2, static_cast<lua_Integer>(lua_rawlen(L, -2)));
  return 0;
}

void watch_coroutines(lua_State* L) {
  lua_newtable(L);
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "k");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &scopes_key);
  lua_getglobal(L, "coroutine");
  constexpr luaL_Reg functions[] = {
      {"resume", &resume}, {"wrap", &wrap}, {"close", &close}, {"yield", &yield}, {nullptr, nullptr}};
  luaL_setfuncs(L, functions, 0);
  lua_pop(L, 1);
}

}  // namespace mr::lua
