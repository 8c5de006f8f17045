#include "runtime/lua/interrupt.h"

#include <atomic>
#include <csignal>
#include <ctime>
#include <pthread.h>
#include <unistd.h>

#include "kernels/core/host_interrupt.h"
#include "kernels/core/threads.h"
#include "runtime/lua/bind.h"

namespace mr {
namespace {

std::atomic<int> presses{0}, raises{0};
std::atomic<int> deadly{0};
std::atomic<int64_t> last_press{0};  // time of the last Ctrl-C in nanoseconds of the monotonic clock; 0: none
constexpr int64_t one_press = 500'000'000;
std::atomic<bool> deferred{false}, asked{false};
// The main Lua state, and the coroutine that runs now.
std::atomic<lua_State*> watched{nullptr}, running{nullptr};
std::atomic<bool> pending{false};       // true from a Ctrl-C until the script's error is raised
std::atomic<lua_State*> host{nullptr};  // main state of a program that handles Ctrl-C by itself
std::atomic<pthread_t> owner{};         // the thread that runs Lua
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<int64_t>::is_always_lock_free &&
                  std::atomic<lua_State*>::is_always_lock_free && std::atomic<pthread_t>::is_always_lock_free,
              "a signal handler needs them");

/// The hook that raises the error of a Ctrl-C. It may still be set on a coroutine after the error was raised in another
/// one. When such a coroutine runs again, the hook only removes itself.
void hook(lua_State* L, lua_Debug*) {
  if (pending) lua::raise_interrupted(L);
  lua_sethook(L, nullptr, 0, 0);
}

/// Returns true if the host's hook is the one that a signal handler sets: it is called at the very next instruction or
/// call. Debuggers and profilers set other hooks.
bool host_was_interrupted() {
  lua_State* const L = host;
  constexpr int all = LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT;
  return L != nullptr && lua_gethook(L) != nullptr && lua_gethookmask(L) == all && lua_gethookcount(L) == 1;
}

void set_hook(lua_State* L) {
  // lua_sethook is the only Lua function that a signal handler may call.
  lua_sethook(L, &hook, LUA_MASKCALL | LUA_MASKRET | LUA_MASKCOUNT, 1);
}

void on_sigint(int signal) {
  lua_State* const L = watched;
  if (L != nullptr && pthread_equal(pthread_self(), owner) == 0) {
    // Forwards the signal to the thread that runs Lua. Only that thread may use coroutines, because Lua may collect
    // them.
    pthread_kill(owner, signal);
    return;
  }
  if (!lua::is_new_press()) return;
  const int count = ++presses;
  if (L == nullptr) return;
  if (count >= deadly) lua::stop_at_once();
  if (deferred && count == 1) {
    asked = true;
    return;
  }
  ++raises;
  pending = true;
  cpu::interrupt();
  set_hook(running);
}

bool defer_of(bool on) {
  if (!on) asked = false;
  return deferred.exchange(on);
}
bool asked_of() { return asked.exchange(false); }

void forget() noexcept {
  presses = raises = 0;
  last_press = 0;
  deferred = asked = pending = false;
}

}  // namespace

void lua::watch_interrupts(lua_State* L, int kill_at) noexcept {
  forget();
  deadly = kill_at;
  owner = pthread_self();
  running = L;
  watched = L;
  struct sigaction action {};
  // installed without SA_RESTART, so that Ctrl-C ends a system call that waits for input
  action.sa_handler = &on_sigint;
  sigaction(SIGINT, &action, nullptr);
}

void lua::ignore_interrupts() noexcept {
  lua_State* const L = watched.exchange(nullptr);
  if (L != nullptr) lua_sethook(L, nullptr, 0, 0);
  cpu::take_interrupt();
  forget();
}

void lua::watch_host(lua_State* main) noexcept {
  host = main;
  cpu::ask_host(main != nullptr ? &host_was_interrupted : nullptr);
}

lua_State* lua::watched_host() noexcept { return host; }

void lua::now_running(lua_State* L) noexcept {
  running = L;
  if (pending && watched != nullptr) set_hook(L);
}

int lua::raise_interrupted(lua_State* L) {
  cpu::take_interrupt();
  // From the second Ctrl-C on, a script that catches the error gets the error again, until no script runs.
  pending = raises > 1;
  lua_sethook(L, pending ? &hook : nullptr, pending ? LUA_MASKCOUNT : 0, pending ? 1 : 0);
  lua_pushliteral(L, "interrupted");
  return lua_error(L);
}

bool lua::is_new_press() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);  // POSIX allows clock_gettime in signal handlers
  const int64_t at = int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  int64_t before = last_press;
  if (before != 0 && at - before < one_press) return false;
  // fails if another thread has just counted this press of Ctrl-C
  return last_press.compare_exchange_strong(before, at);
}

void lua::stop_at_once() noexcept {
  constexpr char text[] =
      "moonrank: stopped at once. What was last written to files is kept and whole: models, checkpoints, trials of a "
      "sweep that ended. Other results of this run are lost.\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
  _exit(130);
}

bool lua::interrupted() noexcept { return presses > 0; }
int lua::interrupts() noexcept { return presses; }

using lua::op;
extern const lua::OpTable interrupt_functions{
    lua::OpTable::functions,
    nullptr,
    {
        op<&defer_of>("defer_interrupt", "on",
                      "While on, the first Ctrl-C raises no error; code must check `interrupted()` and end by itself. "
                      "Returns the previous setting."),
        op<&asked_of>("interrupted", "", "True if Ctrl-C was pressed while errors were deferred. Clears the flag."),
    }};

}  // namespace mr
