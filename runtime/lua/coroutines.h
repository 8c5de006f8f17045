// Makes Ctrl-C work in coroutines: the signal handler of Ctrl-C must know which coroutine runs.
#pragma once

#include "runtime/lua/lua.h"

namespace mr::lua {

/// Replaces `resume`, `wrap`, `close` and `yield` of Lua's library `coroutine` by functions that also record which
/// coroutine runs. The error `interrupted` passes through `wrap` unchanged, without a position. May raise.
void watch_coroutines(lua_State* L);

/// Lua: f(name). Opens a scope in the running coroutine for a setting that holds only during a function call. Until the
/// scope is closed, the coroutine cannot yield. If the coroutine fails before, it is closed at once.
int open_scope(lua_State* L);
/// Lua: f(). Closes the scope that was opened last.
int close_scope(lua_State* L);

}  // namespace mr::lua
