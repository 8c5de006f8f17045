// Turns the C++ functions in op tables into Lua functions of a module, and into methods, getters and operators of a
// class.
#pragma once

#include "runtime/lua/bind.h"

namespace mr::lua {

/// Adds the C++ functions described by `rows` to the Lua table on top of the stack. May raise.
void add_rows(lua_State* L, const std::vector<OpRow>& rows);
/// Adds the C++ functions of `table` to their class (as methods, getters or metamethods), and enters the class in the
/// Lua table of all classes on top of the stack. May raise.
void add_to_class(lua_State* L, const OpTable& table);

}  // namespace mr::lua
