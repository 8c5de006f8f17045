// The C interface of Moonrank: the lock that every call takes, Ctrl-C during a call, and errors of Lua.
#include "runtime/embed/call.h"

#include <csignal>

#include "runtime/lua/box.h"
#include "runtime/lua/error_text.h"
#include "runtime/lua/exit.h"
#include "runtime/lua/interrupt.h"

namespace mr::embed {
namespace {

/// Handles Ctrl-C during a call of the C interface. The destructor restores the handler of the calling program. If a
/// Ctrl-C came too late to stop anything, it is passed on to that handler.
class InterruptWatch {
 public:
  explicit InterruptWatch(const moonrank_state& state) : on_(state.watches_interrupts) {
    if (!on_) return;
    sigaction(SIGINT, nullptr, &before_);
    if (before_.sa_handler == SIG_IGN) on_ = false;
    if (!on_) return;
    lua::watch_interrupts(state.L, presses_that_kill);
  }
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;
  ~InterruptWatch() {
    if (!on_) return;
    const bool came_late = lua::interrupted() && !has_stopped_;
    lua::ignore_interrupts();
    sigaction(SIGINT, &before_, nullptr);
    if (came_late) raise(SIGINT);
  }
  void has_stopped() { has_stopped_ = true; }

 private:
  static constexpr int presses_that_kill = 3;
  bool on_, has_stopped_ = false;
  struct sigaction before_ {};
};

int handle_error(lua_State* L) {
  const lua::Box<lua::Exit>* const exit = lua::box_at<lua::Exit>(L, 1);
  if (exit == nullptr || !exit->alive) return lua::error_text(L);
  lua_pushlstring(L, exit->get()->message.data(), exit->get()->message.size());
  return 1;
}

}  // namespace

std::mutex& calls() {
  static std::mutex the_mutex;
  return the_mutex;
}

std::atomic<bool> forked_in_call{false};

const char* const forked_text =
    "moonrank: the process was forked while another thread was in a call of moonrank. Start it anew instead, as "
    "Python's multiprocessing does with 'spawn' or 'forkserver'";

void in_child() {
  if (calls().try_lock()) {
    calls().unlock();
  } else {
    forked_in_call = true;
  }
}

int fail(moonrank_state* state, const char* text) noexcept {
  try {
    state->error = text;
  } catch (const std::bad_alloc&) {
    state->error.clear();
  }
  return MOONRANK_FAILED;
}

void push_bridge_function(lua_State* L, const char* name) {
  lua_getglobal(L, "require");
  lua_pushliteral(L, "moonrank.system.bridge");
  lua_call(L, 1, 1);
  lua_getfield(L, -1, name);
  lua_remove(L, -2);
}

int protected_call(moonrank_state* state, int arguments, int results) {
  lua_State* const L = state->L;
  lua_pushcfunction(L, &handle_error);
  lua_insert(L, 1);
  InterruptWatch watch(*state);
  const int status = lua_pcall(L, arguments, results, 1);
  if (status == LUA_OK) return MOONRANK_OK;
  const char* const text = lua_tostring(L, -1);
  fail(state, status == LUA_ERRMEM ? "out of memory" : text != nullptr ? text : "an error without a text");
  if (!lua::interrupted()) return MOONRANK_FAILED;
  watch.has_stopped();
  return MOONRANK_INTERRUPTED;
}

}  // namespace mr::embed
