// NaN prints as "nan". On x86-64 the NaN of 0/0 has a sign, which C's printf shows: "-nan" on one machine, "nan" on
// another.
#pragma once

#include "runtime/lua/lua.h"

namespace mr::lua {

/// Makes print, tostring, string.format, io.write and file:write take NaN without its sign. Joining by `..` is Lua's
/// own and keeps it.
void print_plain_nan(lua_State* L);

}  // namespace mr::lua
