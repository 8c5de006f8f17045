// Fuzz targets for parsers that are written in Lua: functions of lua_targets.lua, run in a Lua state with Moonrank.
#pragma once

#include <vector>

#include "tests/fuzz/targets.h"

namespace mr::fuzz {

std::map<std::string, Target> lua_targets();
std::map<std::string, std::vector<std::string>> lua_seeds();

}  // namespace mr::fuzz
