// Turns the rows of op tables into functions of a module, and methods, getters and operators of a class.
#pragma once

#include "runtime/lua/bind.h"

namespace mr::lua {

/// Adds the rows as functions to the table on top of the stack. May raise.
void add_rows(lua_State* L, const std::vector<OpRow>& rows);
/// Adds the rows to their class, and the class's `methods` and `getters` to the table of classes on top of the stack.
/// May raise.
void add_to_class(lua_State* L, const OpTable& table);

}  // namespace mr::lua
