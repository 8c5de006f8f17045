// A Lua state with Moonrank in it.
#pragma once

#include <string_view>

#include "runtime/lua/lua.h"

namespace mr::lua {

/// One file of the standard library, as of the program's build.
struct EmbeddedFile {
  const char* name;  // "stdlib/moonrank/init.lua"
  std::string_view text;
};
/// All of them; the build generates their definition.
const EmbeddedFile* embedded_files(int* count);

/// Opens Lua's libraries and Moonrank's core into a fresh state, and makes `require "moonrank"` work from any folder. A
/// folder named by the environment variable MOONRANK_STDLIB takes precedence over what is embedded. May raise: call it
/// protected.
void open(lua_State* L);

}  // namespace mr::lua
