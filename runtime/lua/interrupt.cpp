#include "runtime/lua/interrupt.h"

#include <atomic>
#include <csignal>
#include <unistd.h>

#include "kernels/cpu/pool.h"
#include "runtime/lua/bind.h"

namespace mr {
namespace {

std::atomic<int> presses{0};
std::atomic<int> deadly{0};
std::atomic<bool> deferred{false}, asked{false};
std::atomic<lua_State*> watched{nullptr};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<lua_State*>::is_always_lock_free,
              "a signal handler needs them");

void hook(lua_State* L, lua_Debug*) { lua::raise_interrupted(L); }

void on_sigint(int) {
  const int count = ++presses;
  lua_State* const L = watched;
  if (L == nullptr) return;
  if (count >= deadly) _exit(130);
  if (deferred && count == 1) {
    asked = true;
    return;
  }
  cpu::interrupt();
  // the one function of Lua's API that a signal handler may call
  lua_sethook(L, &hook, LUA_MASKCALL | LUA_MASKRET | LUA_MASKCOUNT, 1);
}

bool defer_of(bool on) {
  if (!on) asked = false;
  return deferred.exchange(on);
}
bool asked_of() { return asked.exchange(false); }

}  // namespace

void lua::watch_interrupts(lua_State* L, int kill_at) noexcept {
  presses = 0;
  deadly = kill_at;
  deferred = asked = false;
  watched = L;
  struct sigaction action {};
  action.sa_handler = &on_sigint;  // without SA_RESTART: a wait for input must end
  sigaction(SIGINT, &action, nullptr);
}

void lua::ignore_interrupts() noexcept {
  lua_State* const L = watched.exchange(nullptr);
  if (L != nullptr) lua_sethook(L, nullptr, 0, 0);
  cpu::take_interrupt();
  presses = 0;
}

int lua::raise_interrupted(lua_State* L) {
  lua_sethook(L, nullptr, 0, 0);
  if (lua_State* const main = watched) lua_sethook(main, nullptr, 0, 0);
  cpu::take_interrupt();
  lua_pushliteral(L, "interrupted");
  return lua_error(L);
}

bool lua::interrupted() noexcept { return presses > 0; }

using lua::op;
extern const lua::OpTable interrupt_functions{
    lua::OpTable::functions,
    nullptr,
    {
        op<&defer_of>("defer_interrupt", "on",
                      "While on, the first Ctrl-C raises nothing: work asks `interrupted()` and ends in order. Returns "
                      "what it was."),
        op<&asked_of>("interrupted", "", "Whether Ctrl-C came while deferred; forgets it."),
    }};

}  // namespace mr
