// Running chunks of Lua for a person: errors become one line and a traceback of script lines, and an exit status.
#pragma once

#include <string>
#include <vector>

#include "runtime/lua/lua.h"

namespace mr::cli {

/// Calls the function below its arguments on the stack. On an error prints it and returns its exit status (1; 130 after
/// Ctrl-C; what the error object asks for), with nothing on the stack. Otherwise 0, with the results there.
int call(lua_State* L, int arguments, int results);
/// As `call`, for a chunk that luaL_load* just put on the stack with this status: a syntax error is printed.
int call_loaded(lua_State* L, int load_status, int results);
/// Calls function `name` of a module of the standard library with one string, or nothing for null; results as in
/// `call`.
int call_module(lua_State* L, const char* module, const char* name, const char* argument, int results);

/// Sets the global `arg` as Lua's own command does: the script is 0, what follows it 1, 2, ...
void set_arguments(lua_State* L, const std::vector<std::string>& words, int script_at);
/// Makes undeclared globals errors, or not.
int set_strict(lua_State* L, bool on);

}  // namespace mr::cli
