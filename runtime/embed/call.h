// The state of the C interface, and protected calls of Lua. C++ code prepares a call and reads its results. Lua runs
// only in between, in one protected call, so that an error of Lua never jumps over a C++ object.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <new>
#include <string>

#include "runtime/embed/arrays.h"
#include "runtime/io/thread_locale.h"
#include "runtime/lua/lua.h"

struct moonrank_state {
  lua_State* L = nullptr;
  std::string error;
  bool watches_interrupts = false;
};

namespace mr::embed {

/// Returns the lock that every call of the C interface holds: all Lua states share the memory pool, the GPU and the
/// handling of Ctrl-C.
std::mutex& calls();

/// True in a process that was forked while another thread of its parent was in a call of the C interface. Its states
/// and caches may be half changed, so every later call is refused.
extern std::atomic<bool> forked_in_call;
extern const char* const forked_text;
/// Runs in every forked child process: sets `forked_in_call` if another thread of the parent was in a call.
void in_child();

/// Stores the text of an error in the state, and returns MOONRANK_FAILED.
int fail(moonrank_state* state, const char* text) noexcept;

/// Pushes the function `name` of the Lua module moonrank.system.bridge. May raise an error of Lua.
void push_bridge_function(lua_State* L, const char* name);

/// Calls a Lua function in protected mode. The stack has only the function and its arguments; afterwards it has the
/// results. On an error, stores its text in the state.
int protected_call(moonrank_state* state, int arguments, int results);

/// Runs `work`, the body of a function of the C interface, with the calls' lock. Exceptions become the state's error.
template <class Work>
int guarded(moonrank_state* state, const Work& work) noexcept {
  if (state == nullptr) return MOONRANK_FAILED;
  const Call ends_with_releases;
  const io::ThreadLocale plain(LC_ALL_MASK, "C");  // the caller's may have another decimal point
  if (forked_in_call) return fail(state, forked_text);
  const std::lock_guard lock(calls());
  try {
    state->error.clear();
    return work();
  } catch (const std::exception& error) {
    return fail(state, error.what());
  }
}

}  // namespace mr::embed
