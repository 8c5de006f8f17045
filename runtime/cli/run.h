// Runs chunks of Lua for the command line. An error is printed with a traceback of script lines and sets the exit
// status.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/lua/lua.h"

namespace mr::cli {

/// Calls the function below its arguments on the stack and returns 0, with the results on the stack. On an error,
/// prints it and returns its exit status with nothing on the stack: 1; 130 after Ctrl-C; or the status of an Exit
/// object.
int call(lua_State* L, int arguments, int results);
/// Like `call`, for a chunk of code that luaL_load* just pushed with this status. A syntax error is printed.
int call_loaded(lua_State* L, int load_status, int results);
/// Pushes the function `name` of a Lua module of Moonrank, such as "moonrank.test". Returns 0, or prints an error and
/// returns its exit status, as `call` does.
int push_function(lua_State* L, const char* module, const char* name);
/// Calls the function `name` of a Lua module of Moonrank with one string, or without arguments if `argument` is null.
/// Leaves `results` results on the stack, or prints an error and returns its exit status, as `call` does.
int call_module(lua_State* L, const char* module, const char* name, const char* argument, int results);

/// Prints "moonrank: " and the text on standard error, with control characters escaped.
void print_error(std::string_view text) noexcept;
/// Returns the text of an error on top of the stack that no message handler has processed. Valid while it is on the
/// stack.
std::string_view error_at_top(lua_State* L) noexcept;

/// Sets the global `arg` as the lua command does: the script is 0, and the words after it are 1, 2, ...
void set_arguments(lua_State* L, const std::vector<std::string>& words, int script_at);
/// Makes uses of undeclared global variables errors, or allows them.
int set_strict(lua_State* L, bool on);

}  // namespace mr::cli
