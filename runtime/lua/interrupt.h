// Ctrl-C: how the signal handler interrupts a running script, and how long work checks for it to end in order.
#pragma once

#include "runtime/lua/lua.h"

namespace mr::lua {

/// Installs the handler of SIGINT for scripts in this state. Until `watch` is called again or the state closes, Ctrl-C
/// stops long operations and raises the error `interrupted`, once; a script may catch it. After the next one it is
/// raised again wherever it is caught, and the `kill_at`-th one ends the process with status 130 at once. May not
/// raise.
void watch_interrupts(lua_State* L, int kill_at) noexcept;
/// True if a SIGINT that came now is another press of Ctrl-C. Signals within half a second of the last press belong to
/// it: `timeout` signals its child and then the child's group, and both reach the child. For signal handlers.
bool is_new_press() noexcept;
/// Ends the process with status 130 and says what is kept. For signal handlers.
[[noreturn]] void stop_at_once() noexcept;
/// Ctrl-C then only makes `interrupted` true, and an earlier one is forgotten.
void ignore_interrupts() noexcept;
/// The coroutine whose code runs from now on, or the main state: to be called before and after a coroutine is resumed.
void now_running(lua_State* L) noexcept;
/// Raises `interrupted`, once for one Ctrl-C: either in long work or in the script, whichever checks first. Without a
/// position, so that scripts can compare it. Never returns.
int raise_interrupted(lua_State* L);
/// True if Ctrl-C came since `watch_interrupts` or `ignore_interrupts`.
bool interrupted() noexcept;
/// How many times Ctrl-C came since then; several signals within half a second are one press.
int interrupts() noexcept;

}  // namespace mr::lua
