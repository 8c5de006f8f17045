// Running chunks of Lua for a person: errors become one line and a traceback of script lines, and an exit status.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/lua/lua.h"

namespace mr::cli {

/// Calls the function below its arguments on the stack. On an error prints it and returns its exit status (1; 130 after
/// Ctrl-C; what the error object asks for), with nothing on the stack. Otherwise 0, with the results there.
int call(lua_State* L, int arguments, int results);
/// As `call`, for a chunk that luaL_load* just put on the stack with this status: a syntax error is printed.
int call_loaded(lua_State* L, int load_status, int results);
/// Pushes function `name` of a module of the standard library; on an error as `call`.
int push_function(lua_State* L, const char* module, const char* name);
/// Calls function `name` of a module of the standard library with one string, or nothing for null; results as in
/// `call`.
int call_module(lua_State* L, const char* module, const char* name, const char* argument, int results);

/// "moonrank: " and the text on standard error, as it may be shown.
void print_error(std::string_view text) noexcept;
/// The text of an error on top of the stack that passed no handler; valid while it is there.
std::string_view error_at_top(lua_State* L) noexcept;

/// Sets the global `arg` as Lua's own command does: the script is 0, what follows it 1, 2, ...
void set_arguments(lua_State* L, const std::vector<std::string>& words, int script_at);
/// Makes undeclared globals errors, or not.
int set_strict(lua_State* L, bool on);

}  // namespace mr::cli
