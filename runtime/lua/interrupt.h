// Ctrl-C: what the signal handler does to a running script, and how long work can ask to end in order instead.
#pragma once

#include "runtime/lua/lua.h"

namespace mr::lua {

/// Takes over SIGINT for scripts in this state. Until `watch` is called again or the state closes, Ctrl-C stops long
/// operations and raises the error `interrupted`, once; a script may catch it. After the next one it is raised again
/// wherever it is caught, and the `kill_at`-th one ends the process with status 130 at once. May not raise.
void watch_interrupts(lua_State* L, int kill_at) noexcept;
/// Back to waiting: Ctrl-C only makes `interrupted` true, and what was asked before is forgotten.
void ignore_interrupts() noexcept;
/// The coroutine whose code runs from now on, or the main state: who resumes one says so before and after.
void now_running(lua_State* L) noexcept;
/// Raises `interrupted`, once for one Ctrl-C: whoever sees it first, the work or the script, takes it. Without a
/// position, so that scripts can compare it. Never returns.
int raise_interrupted(lua_State* L);
/// Whether Ctrl-C came since `watch_interrupts` or `ignore_interrupts`.
bool interrupted() noexcept;

}  // namespace mr::lua
