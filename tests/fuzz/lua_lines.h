// Lines of Lua that run, which no compiler counts.
#pragma once

#include <string>

#include "runtime/lua/lua.h"

namespace mr::fuzz {

/// As counters for libFuzzer, beside those of compiled code: one for each line, but for collisions.
void count_lines(lua_State* L);

/// At the end of the program into a file: "source:line 1" of each that ran, and 0 of the others of functions that were
/// entered. What a file does as it is loaded is not among them.
void record_lines(lua_State* L, const std::string& path);

}  // namespace mr::fuzz
