// Coroutines that Ctrl-C reaches: its handler must know which one runs.
#pragma once

#include "runtime/lua/lua.h"

namespace mr::lua {

/// Replaces `resume`, `wrap`, `close` and `yield` of Lua's library `coroutine` by functions that say which coroutine
/// runs, and otherwise do the same. The error `interrupted` leaves a wrapped coroutine as it is, without a position.
/// May raise.
void watch_coroutines(lua_State* L);

/// Lua: f(name). What the running coroutine sets from now on, until it is closed, holds for its call alone: it cannot
/// yield, and where it fails it is closed at once.
int open_scope(lua_State* L);
/// Lua: f(). Ends the scope that was opened last.
int close_scope(lua_State* L);

}  // namespace mr::lua
