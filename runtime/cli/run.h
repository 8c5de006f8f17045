// Runs chunks of Lua for the command line. An error is printed with a traceback of script lines and sets the exit
// status.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/lua/lua.h"

namespace mr::cli {

/// Calls a Lua function, which lies below its arguments on the stack. Returns 0 and leaves the results on the stack. On
/// an error, prints it, leaves nothing, and returns the exit status: 130 after Ctrl-C, the status of an Exit object (by
/// which a script ends the program), otherwise 1.
int call(lua_State* L, int arguments, int results);
/// Like `call`, for a chunk of code on top of the stack. `load_status` is what luaL_load* returned for it; if that is
/// an error, the error is printed.
int call_loaded(lua_State* L, int load_status, int results);
/// Pushes the function `name` of a Lua module of Moonrank, such as "moonrank.test". Returns 0, or prints an error and
/// returns its exit status, as `call` does.
int push_function(lua_State* L, const char* module, const char* name);
/// Calls the function `name` of a Lua module of Moonrank with one string, or without arguments if `argument` is null.
/// Leaves `results` results on the stack, or prints an error and returns its exit status, as `call` does.
int call_module(lua_State* L, const char* module, const char* name, const char* argument, int results);

/// Prints "moonrank: " and the text to standard error, with control characters escaped.
void print_error(std::string_view text) noexcept;
/// Returns the text of the error on top of the stack, or a placeholder if it is not a text. The result is valid while
/// the error is on the stack.
std::string_view error_at_top(lua_State* L) noexcept;

/// Sets the global table `arg` as the `lua` command does: arg[0] is the script, and arg[1], arg[2], ... are the words
/// after it.
void set_arguments(lua_State* L, const std::vector<std::string>& words, int script_at);
/// If `on` is true, the use of an undeclared global variable becomes an error; if it is false, it is allowed.
int set_strict(lua_State* L, bool on);

}  // namespace mr::cli
