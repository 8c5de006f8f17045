// Ctrl-C: the signal handler that interrupts scripts, and the functions by which long work checks for it.
#pragma once

#include "runtime/lua/lua.h"

namespace mr::lua {

/// Installs the SIGINT handler for scripts in this state. Ctrl-C stops long operations and raises the error
/// `interrupted` once; a script may catch it. After the second Ctrl-C the error is raised again after each catch. The
/// `kill_at`-th Ctrl-C ends the process at once with status 130. Does not raise.
void watch_interrupts(lua_State* L, int kill_at) noexcept;
/// Returns true if a SIGINT that arrives now is another press of Ctrl-C. Signals within half a second belong to one
/// press, because `timeout` signals both its child and the child's group. For signal handlers.
bool is_new_press() noexcept;
/// Ends the process with status 130 and prints which files are complete. For signal handlers.
[[noreturn]] void stop_at_once() noexcept;
/// From now on Ctrl-C only makes `interrupted` return true. Earlier presses are forgotten.
void ignore_interrupts() noexcept;
/// Sets the coroutine (or main state) whose code runs from now on. Call it before and after resuming a coroutine.
void now_running(lua_State* L) noexcept;
/// Raises `interrupted` once per Ctrl-C, from long work or from the script, whichever checks first. The error has no
/// position, so that scripts can compare it with `interrupted`. Never returns.
int raise_interrupted(lua_State* L);
/// Watches the main state of another program, which handles Ctrl-C by itself, as lua5.4 does: its signal handler sets a
/// hook on the main state. Long work then ends with the error `interrupted`. nullptr: no state is watched.
void watch_host(lua_State* main) noexcept;
/// Returns the state that `watch_host` watches, or nullptr.
lua_State* watched_host() noexcept;
/// Returns true if Ctrl-C was pressed since the last call of `watch_interrupts` or `ignore_interrupts`.
bool interrupted() noexcept;
/// Returns the number of presses of Ctrl-C since the last call of `watch_interrupts` or `ignore_interrupts`. Several
/// signals within half a second are one press.
int interrupts() noexcept;

}  // namespace mr::lua
