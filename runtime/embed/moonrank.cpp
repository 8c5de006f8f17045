// The functions of the C interface: states, scripts, metrics and losses, and calls by which other languages use
// Moonrank.
#include "runtime/embed/moonrank.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <pthread.h>

#include "kernels/core/threads.h"
#include "runtime/embed/call.h"
#include "runtime/lua/bind.h"
#include "runtime/lua/state.h"

namespace mr::embed {
namespace {

/// The results of a call of the C interface. Each call has its own results, because a program may call again before it
/// has read them.
struct Reply {
  std::string values;
  std::vector<moonrank_array> arrays;
};

constexpr int most_threads = 4096;

thread_local std::string error_of_open;

/// A call of a function of the Lua module moonrank.system.bridge: its name and its arguments.
struct Request {
  const char* function;
  std::string_view values;
  const std::vector<Tensor>* arrays;
};

/// A C function for Lua that returns the results of require("moonrank.system.bridge").call(function, values, {array,
/// ...}).
int call_bridge(lua_State* L) {
  const Request& request = *static_cast<const Request*>(lua_touserdata(L, 1));
  push_bridge_function(L, "call");
  lua_pushstring(L, request.function);
  lua_pushlstring(L, request.values.data(), request.values.size());
  lua_createtable(L, static_cast<int>(request.arrays->size()), 0);
  lua_Integer i = 0;
  for (const Tensor& array : *request.arrays) {
    lua::reserve_box<Tensor>(L);
    lua::box_at<Tensor>(L, -1)->fill(Tensor(array));
    lua_rawseti(L, -2, ++i);
  }
  lua_call(L, 3, 2);
  return 2;
}

void release_all(std::vector<moonrank_array>& arrays) {
  for (const moonrank_array& array : arrays) array.release(array.owner);
  arrays.clear();
}

/// Reads the two results of call_bridge from the stack: a string of bytes and a table of tensors.
void read_reply(lua_State* L, Reply& reply) {
  size_t bytes = 0;
  const char* const values = lua_tolstring(L, -2, &bytes);
  reply.values.assign(values, bytes);
  const auto count = static_cast<lua_Integer>(lua_rawlen(L, -1));
  for (lua_Integer i = 1; i <= count; ++i) {
    lua_rawgeti(L, -1, i);
    reply.arrays.push_back(array_on(*lua::box_at<Tensor>(L, -1)->get()));
    lua_pop(L, 1);
  }
}

/// Makes tensors that use the memory of the caller's arrays. After a bad array the others are read too, because every
/// array must be released in the end.
std::vector<Tensor> tensors_on(const moonrank_array* arrays, int count) {
  if (count < 0) throw std::invalid_argument("count is " + std::to_string(count) + ", expected 0 or more");
  if (count > 0 && arrays == nullptr) throw std::invalid_argument("arrays is NULL, expected " + std::to_string(count));
  std::vector<Tensor> tensors;
  std::string problem;
  for (int i = 0; i < count; ++i) {
    try {
      tensors.push_back(tensor_on(arrays[i]));
    } catch (const std::exception& error) {
      problem = error.what();
    }
  }
  if (!problem.empty()) throw std::invalid_argument(problem);
  return tensors;
}

/// Calls a function of the Lua module moonrank.system.bridge and reads its results into `reply`.
int call(moonrank_state* state, const char* function, std::string_view values, const std::vector<Tensor>& tensors,
         Reply& reply) {
  Request request{function, values, &tensors};
  lua_State* const L = state->L;
  lua_settop(L, 0);
  lua_pushcfunction(L, &call_bridge);
  lua_pushlightuserdata(L, &request);
  const int status = protected_call(state, 1, 2);
  if (status == MOONRANK_OK) read_reply(L, reply);
  lua_settop(L, 0);
  return status;
}

/// Like `guarded`, which runs the body of a function of the C interface, but for a body that fills a reply. After an
/// exception, the arrays of the reply are released.
template <class Work>
int with_reply(moonrank_state* state, const Work& work) noexcept {
  return guarded(state, [&] {
    Reply reply;
    try {
      return work(reply);
    } catch (const std::exception&) {
      release_all(reply.arrays);
      throw;
    }
  });
}

/// Packs the arguments of a call from C to Lua. Lua unpacks them as a table with the keys 1, 2, ... (frame.unpack in
/// stdlib/moonrank/sweep/frame.lua).
std::string packed(std::initializer_list<std::string_view> texts) {
  std::string out;
  const auto append = [&out](char kind, int64_t number) {
    out += kind;
    out.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  append('T', static_cast<int64_t>(texts.size()));
  int64_t i = 0;
  for (const std::string_view text : texts) {
    append('i', ++i);
    append('s', static_cast<int64_t>(text.size()));
    out += text;
  }
  return out;
}

moonrank_array lent(const void* data, int32_t dtype, int64_t entries) {
  moonrank_array array{};
  array.data = const_cast<void*>(data);  // NOLINT: the bridge only reads arguments
  array.dtype = dtype;
  array.dims = 1;
  array.shape[0] = entries;
  return array;
}

/// Calls a bridge function that computes a metric or loss and returns its mean and an array. The array is copied to
/// `out`, unless that is null.
int measure(moonrank_state* state, const char* function, const char* name, const void* scores, int dtype,
            const moonrank_lists* lists, double* mean, void* out) {
  return with_reply(state, [&](Reply& reply) {
    if (name == nullptr) return fail(state, "the name is NULL, expected a metric or a loss");
    if (lists == nullptr) return fail(state, "lists is NULL, expected judged lists");
    if (mean == nullptr) return fail(state, "mean is NULL, expected the address of a double");
    if (dtype != MOONRANK_FLOAT32 && dtype != MOONRANK_FLOAT64)
      return fail(
          state, ("dtype of the scores is " + std::to_string(dtype) + ", expected 0 (float32) or 1 (float64)").c_str());
    const moonrank_array arrays[] = {lent(scores, dtype, lists->rows),
                                     lent(lists->grades, MOONRANK_FLOAT32, lists->rows),
                                     lent(lists->sizes, MOONRANK_INT64, lists->count)};
    const std::string values = packed({name, out != nullptr ? "all" : "mean"});
    const int status = call(state, function, values, tensors_on(arrays, 3), reply);
    if (status != MOONRANK_OK) return status;
    const std::vector<moonrank_array>& found = reply.arrays;
    *mean = *static_cast<const double*>(found[0].data);
    if (out != nullptr) {
      const size_t entry = found[1].dtype == MOONRANK_FLOAT32 ? sizeof(float) : sizeof(double);
      std::memcpy(out, found[1].data, static_cast<size_t>(found[1].shape[0]) * entry);
    }
    release_all(reply.arrays);
    return status;
  });
}

int open_protected(lua_State* L) {
  lua::open(L);
  return 0;
}

}  // namespace
}  // namespace mr::embed

using namespace mr::embed;  // NOLINT: this file implements the C interface

int moonrank_api_version(void) { return MOONRANK_API_VERSION; }
const char* moonrank_version(void) { return MR_VERSION; }

int moonrank_threads(int n) {
  try {
    if (n > 0) mr::cpu::set_threads(std::min(n, most_threads));
  } catch (const std::exception&) {
    return mr::cpu::threads();  // the number of threads cannot change during a computation, from which this was called
  }
  return mr::cpu::threads();
}

moonrank_state* moonrank_open(void) {
  try {
    static const int watched = pthread_atfork(nullptr, nullptr, &in_child);
    static_cast<void>(watched);
    if (forked_in_call) throw std::runtime_error(forked_text);
    const mr::io::ThreadLocale plain(LC_ALL_MASK, "C");
    const std::lock_guard lock(calls());
    auto state = std::make_unique<moonrank_state>();
    state->L = luaL_newstate();
    if (state->L == nullptr) throw std::bad_alloc();
    lua_pushcfunction(state->L, &open_protected);
    if (protected_call(state.get(), 0, 0) == MOONRANK_OK) return state.release();
    error_of_open = state->error;
    lua_close(state->L);
  } catch (const std::exception& error) {
    error_of_open = error.what();
  }
  return nullptr;
}

void moonrank_close(moonrank_state* state) {
  if (state == nullptr || forked_in_call) return;
  const Call ends_with_releases;
  const std::lock_guard lock(calls());
  lua_close(state->L);
  std::unique_ptr<moonrank_state>(state).reset();
}

const char* moonrank_error(const moonrank_state* state) {
  return state != nullptr ? state->error.c_str() : error_of_open.c_str();
}

void moonrank_watch_interrupts(moonrank_state* state, int on) {
  if (state != nullptr) state->watches_interrupts = on != 0;
}

int moonrank_run(moonrank_state* state, const char* code, const char* name) {
  return with_reply(state, [&](Reply& reply) {
    if (code == nullptr) return fail(state, "code is NULL, expected a text");
    const int status = call(state, "script", packed({code, name != nullptr ? name : "script"}), {}, reply);
    release_all(reply.arrays);
    return status;
  });
}

int moonrank_evaluate(moonrank_state* state, const char* metric, const void* scores, int dtype,
                      const moonrank_lists* lists, double* mean, double* values) {
  return measure(state, "evaluate_one", metric, scores, dtype, lists, mean, values);
}

int moonrank_loss(moonrank_state* state, const char* loss, const void* scores, int dtype, const moonrank_lists* lists,
                  double* mean, void* gradient) {
  return measure(state, "loss_mean", loss, scores, dtype, lists, mean, gradient);
}

int moonrank_call(moonrank_state* state, const char* function, const void* values, size_t bytes,
                  const moonrank_array* arrays, int count, moonrank_reply* reply) {
  if (reply != nullptr) *reply = {};
  if (state == nullptr && arrays != nullptr) {
    for (int i = 0; i < count; ++i) {
      if (arrays[i].release != nullptr) arrays[i].release(arrays[i].owner);
    }
  }
  return with_reply(state, [&](Reply& found) {
    const std::vector<mr::Tensor> tensors =
        // must come first: the tensors release the caller's arrays, also after an error below
        tensors_on(arrays, count);
    if (function == nullptr) return fail(state, "function is NULL, expected a name");
    if (reply == nullptr) return fail(state, "reply is NULL, expected the address of a reply");
    const int status = call(state, function, {static_cast<const char*>(values), bytes}, tensors, found);
    if (status != MOONRANK_OK) return status;
    auto kept = std::make_unique<Reply>(std::move(found));
    *reply = {kept->values.data(), kept->values.size(), kept->arrays.data(), static_cast<int32_t>(kept->arrays.size()),
              kept.get()};
    static_cast<void>(kept.release());  // the caller owns it until moonrank_release
    return status;
  });
}

void moonrank_release(moonrank_reply* reply) {
  if (reply == nullptr) return;
  std::unique_ptr<Reply>(static_cast<Reply*>(reply->owner)).reset();
  *reply = {};
}
