// Triggers garbage collections by the bytes that tensors hold, because Lua counts only a few dozen bytes per tensor. A
// minor collection (of recent objects) runs after some megabytes of new tensors, or after many calls that made new
// tensors. A full collection runs at a soft limit, which grows if a collection freed little (the rule of torch7).
#pragma once

#include "runtime/lua/failure.h"
#include "runtime/lua/lua.h"

namespace mr::lua {

/// Runs a minor or a full collection if one is due. May raise an error of a finalizer. No C++ object may be alive at
/// the call.
void collect_if_due(lua_State* L);
int raise_extra_arguments(lua_State* L, const OpRow& row, int expected, int got);

}  // namespace mr::lua
