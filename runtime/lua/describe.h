// Descriptions of the core's functions: the rows of the op tables, read back from the functions.
#pragma once

#include "runtime/lua/lua.h"

namespace mr::lua {

/// Lua: describe(f) -> { name =, arguments =, doc =, types = {"number", ..., "->", ...} }, or nil where f is no
/// function of the core.
int describe(lua_State* L);

}  // namespace mr::lua
