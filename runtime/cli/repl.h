// The interactive prompt (REPL): runs typed chunks of code and shows their results. On a terminal it has line editing,
// history and completion.
#pragma once

#include "runtime/lua/lua.h"

namespace mr::cli {

/// Reads and runs chunks of code until the end of the input. Errors are shown, and the session continues. Returns the
/// exit status: on a terminal 0, else the status of the first chunk that failed, or 0 if none did.
int run_repl(lua_State* L);

}  // namespace mr::cli
