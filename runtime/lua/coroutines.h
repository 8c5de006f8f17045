// Coroutines that Ctrl-C reaches: its handler must know which one runs.
#pragma once

#include "runtime/lua/lua.h"

namespace mr::lua {

/// Replaces `resume`, `wrap` and `close` of Lua's library `coroutine` by functions that say which coroutine runs, and
/// otherwise do the same. The error `interrupted` leaves a wrapped coroutine as it is, without a position. May raise.
void watch_coroutines(lua_State* L);

}  // namespace mr::lua
