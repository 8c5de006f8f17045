#include "runtime/lua/gc.h"

#include <algorithm>
#include <cstdint>

#include "runtime/tensor/storage.h"

namespace mr::lua {
namespace {
constexpr int64_t least_limit = int64_t{256} << 20;
/// So much may be allocated between minor collections; or less, which stays in a core's cache when it is taken again,
/// where many calls shared it and a collection costs little beside them.
constexpr int64_t minor_limit = int64_t{16} << 20, cached_limit = int64_t{1} << 20;
constexpr int many_calls = 32;
/// Or after so many calls, however little they allocated: what is held at once then does not depend on how much garbage
/// scripts make beside tensors, and the next ones find memory of their sizes.
constexpr int most_calls = 1024;
int64_t soft_limit = least_limit;
int64_t seen = 0, grown = 0;  // bytes held at the last call, and bytes allocated since the last minor collection
int calls = 0;                // since then

int64_t held() { return Storage::held(Device::cpu) + Storage::held(Device::cuda); }

/// A minor collection, which takes little time, whenever some megabytes were allocated: to Lua a tensor is a few bytes.
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
