// Lua sees a tensor as a few dozen bytes. So the bytes that tensors hold decide when a collection is due: a minor one
// (of recent objects) whenever some megabytes were allocated, and a full one at a soft limit, which grows where a
// collection freed little (the rule of torch7).
#pragma once

#include "runtime/lua/failure.h"
#include "runtime/lua/lua.h"

namespace mr::lua {

/// A minor or a full collection if one is due. May raise (a finaliser's error); no C++ object may be
/// alive.
void collect_if_due(lua_State* L);
int raise_extra_arguments(lua_State* L, const OpRow& row, int expected, int got);

}  // namespace mr::lua
