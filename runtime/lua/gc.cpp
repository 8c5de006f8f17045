#include "runtime/lua/gc.h"

#include <algorithm>
#include <cstdint>

#include "runtime/tensor/storage.h"

namespace mr::lua {
namespace {
constexpr int64_t least_limit = int64_t{256} << 20;
constexpr int64_t minor_limit = int64_t{16} << 20;
int64_t soft_limit = least_limit;
int64_t seen = 0, grown = 0;  // bytes held at the last call, and bytes allocated since the last minor collection

int64_t held() { return Storage::held(Device::cpu) + Storage::held(Device::cuda); }

/// A minor collection, which takes little time, whenever some megabytes were allocated: to Lua a tensor is a few bytes.
void collect_recent(lua_State* L) {
  grown += std::max<int64_t>(0, held() - seen);
  if (grown >= minor_limit) {
    grown = 0;
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
