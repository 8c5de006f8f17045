// Describes the C++ functions that scripts can call: arguments, types and documentation, which are in op tables.
#pragma once

#include "runtime/lua/lua.h"

namespace mr::lua {

/// Lua: describe(f) -> { name =, arguments =, doc =, types = {"number", ..., "->", ...} }, or nil if f is not a
/// function of the core.
int describe(lua_State* L);

}  // namespace mr::lua
