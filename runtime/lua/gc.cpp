#include "runtime/lua/gc.h"

#include <algorithm>
#include <cstdint>

#include "runtime/tensor/storage.h"

namespace mr::lua {
namespace {
constexpr int64_t least_limit = int64_t{256} << 20;
/// Bytes of new tensors after which a minor garbage collection runs. The lower limit `cached_limit` applies after at
/// least `many_calls` calls from Lua, when a collection is cheap per call: so little memory is still in a core's cache
/// when it is reused.
constexpr int64_t minor_limit = int64_t{16} << 20, cached_limit = int64_t{1} << 20;
constexpr int many_calls = 32;
/// A minor garbage collection also runs after this number of calls from Lua if they allocated tensors. So the memory in
/// use does not depend on the other garbage of scripts, and new tensors find freed memory of their sizes.
constexpr int most_calls = 1024;
int64_t soft_limit = least_limit;
// bytes that tensors held when `collect_recent` last ended; bytes allocated since the last minor collection
int64_t seen = 0, grown = 0;
int calls = 0;  // number of calls since the last minor collection

int64_t held() { return Storage::held(Device::cpu) + Storage::held(Device::cuda); }

/// Runs a minor collection, which is fast, if some megabytes were allocated. Lua itself counts only a few bytes per
/// tensor.
void collect_recent(lua_State* L) {
  grown += std::max<int64_t>(0, held() - seen);
  ++calls;
  if (grown >= minor_limit || (grown >= cached_limit && calls >= many_calls) || (grown > 0 && calls >= most_calls)) {
    grown = 0;
    calls = 0;
    lua_gc(L, LUA_GCSTEP, 0);
  }
  seen = held();
}

}  // namespace

void collect_if_due(lua_State* L) {
  collect_recent(L);
  const int64_t before = held();
  if (before < soft_limit) return;
  lua_gc(L, LUA_GCCOLLECT);
  const int64_t after = held();
  if (after > before / 5 * 4) {
    soft_limit = std::max(soft_limit, after) / 5 * 7;
  } else if (after < soft_limit / 4) {
    soft_limit = std::max(least_limit, soft_limit / 2);
  }
}

}  // namespace mr::lua
