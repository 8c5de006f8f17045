// The state of the C interface, and protected calls of Lua. A call is prepared and its results are read in C++; in
// between, one protected call runs Lua, so that no error of Lua passes a C++ object.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <new>
#include <string>

#include "runtime/embed/arrays.h"
#include "runtime/lua/lua.h"

struct moonrank_state {
  lua_State* L = nullptr;
  std::string error;
  bool watches_interrupts = false;
};

namespace mr::embed {

/// Locked during every call, because Lua's states share the memory pool, the GPU and the handling of Ctrl-C.
std::mutex& calls();

/// true in a process that was forked while another thread was in a call: states and caches may be half changed, so
/// every later call is refused
extern std::atomic<bool> forked_in_call;
extern const char* const forked_text;
/// Called in a forked child: sets `forked_in_call`.
void in_child();

/// Stores the text of a failure, and returns MOONRANK_FAILED.
int fail(moonrank_state* state, const char* text) noexcept;

/// Pushes a function of stdlib/moonrank/system/bridge.lua. May raise an error of Lua.
void push_bridge_function(lua_State* L, const char* name);

/// Calls the Lua function below the arguments on top of the stack, which has nothing else. Afterwards the results are
/// on top.
int protected_call(moonrank_state* state, int arguments, int results);

/// Runs `work` with the calls' lock, and turns exceptions into the state's error.
template <class Work>
int guarded(moonrank_state* state, const Work& work) noexcept {
  if (state == nullptr) return MOONRANK_FAILED;
  const Call ends_with_releases;
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
