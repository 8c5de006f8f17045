// Parsers that are written in Lua: the functions of lua_targets.lua in a state with Moonrank.
#pragma once

#include <vector>

#include "runtime/lua/lua.h"
#include "tests/fuzz/targets.h"

namespace mr::fuzz {

std::map<std::string, Target> lua_targets();
std::map<std::string, std::vector<std::string>> lua_seeds();

/// The state in which they run.
lua_State* lua_state();

}  // namespace mr::fuzz
