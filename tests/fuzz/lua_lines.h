// Line coverage of Lua code for the fuzzer libFuzzer, whose compiler only instruments C++.
#pragma once

#include "runtime/lua/lua.h"

namespace mr::fuzz {

/// Makes the Lua state count each line that it runs in one of libFuzzer's extra counters. libFuzzer then keeps inputs
/// that reach a new line. Two lines may share a counter.
void count_lines(lua_State* L);

}  // namespace mr::fuzz
