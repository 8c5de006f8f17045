// Opens Lua's libraries and Moonrank's core in a new Lua state.
#pragma once

#include <string_view>

#include "runtime/lua/lua.h"

namespace mr::lua {

/// A file of the standard library, embedded at build time.
struct EmbeddedFile {
  const char* name;  // path of the file, for example "stdlib/moonrank/init.lua"
  std::string_view text;
};
/// Returns all embedded files; the build generates this function's definition.
const EmbeddedFile* embedded_files(int* count);

/// Opens Lua's libraries and Moonrank's core in a new state, and makes `require "moonrank"` work in any folder. The
/// folder in the environment variable MOONRANK_STDLIB takes precedence over embedded files. May raise, so call it in
/// protected mode.
void open(lua_State* L);

/// Opens Moonrank's core in a state of another program, such as Debian's lua5.4, and pushes the table `mr`. Lua's
/// libraries must be open. Signal handlers, the locale, `load` and the program's ways to find modules stay as they are.
/// May raise, so call it in protected mode.
void open_in_host(lua_State* L);

}  // namespace mr::lua
