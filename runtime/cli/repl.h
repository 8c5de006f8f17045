// The REPL: what is typed is run, results are shown; line editing, history and completion on a terminal.
#pragma once

#include "runtime/lua/lua.h"

namespace mr::cli {

/// Reads and runs chunks until the end of the input. Errors are shown and the session goes on. Returns the exit status:
/// 0 on a terminal; else that of the first chunk that failed, or 0.
int run_repl(lua_State* L);

}  // namespace mr::cli
