// Coverage of Lua code for libFuzzer, whose compiler instruments C++ only.
#pragma once

#include "runtime/lua/lua.h"

namespace mr::fuzz {

/// Counts each Lua line that runs in one of libFuzzer's extra counters, so that an input that reaches a new line is
/// kept. Two lines may share a counter.
void count_lines(lua_State* L);

}  // namespace mr::fuzz
