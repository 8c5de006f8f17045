// The text of any error object: scripts may raise anything, with any metatable.
#pragma once

#include "runtime/lua/lua.h"

namespace mr::lua {

/// Pushes the object at the index itself where it is a string or a number, else what its `__tostring` gives, else its
/// type. Always a string. An error in `__tostring` is not raised.
void push_error_text(lua_State* L, int index);
/// Lua: error_text(object) -> string
int error_text(lua_State* L);

}  // namespace mr::lua
