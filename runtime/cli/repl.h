// The REPL: runs typed chunks and shows their results, with line editing, history and completion on a terminal.
#pragma once

#include "runtime/lua/lua.h"

namespace mr::cli {

/// Reads and runs chunks until the end of the input. Errors are shown, and the session continues. Returns the exit
/// status: 0 on a terminal, else the status of the first chunk that failed, or 0.
int run_repl(lua_State* L);

}  // namespace mr::cli
