// Converts any error object to text: scripts may raise any value with any metatable.
#pragma once

#include "runtime/lua/lua.h"

namespace mr::lua {

/// Pushes a string: the object itself if it is a string or a number, else the result of its `__tostring`, else its
/// type. An error in `__tostring` is not raised.
void push_error_text(lua_State* L, int index);
int error_text(lua_State* L);

}  // namespace mr::lua
