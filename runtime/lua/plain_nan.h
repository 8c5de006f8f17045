// Makes NaN print as "nan" on every machine. On x86-64, 0/0 gives a NaN with a sign bit, which C's printf shows as
// "-nan".
#pragma once

#include "runtime/lua/lua.h"

namespace mr::lua {

/// Makes print, tostring, string.format, io.write and file:write ignore the sign of NaN. Lua's own operator `..` still
/// shows it.
void print_plain_nan(lua_State* L);

}  // namespace mr::lua
