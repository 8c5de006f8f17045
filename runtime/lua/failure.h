// Turns C++ exceptions into Lua errors. An exception is caught where it is thrown, stored in a record without a
// destructor, and raised as a Lua error when no C++ object is alive any more.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/lua/lua.h"
#include "runtime/tensor/without_zeros.h"

namespace mr::lua {

/// Thrown for an argument of the wrong type. `argument` counts from 1.
struct TypeError {
  int argument;
  const char* expected;
};

/// Thrown for an argument that was closed before, such as a database.
struct ClosedError {
  int argument;
  const char* what;
};

/// Thrown for a sequence that also has a field with a name.
struct KeyBesideError {
  int argument;
  std::string key;
};

struct Failure {
  enum Kind { none, type, value, closed, memory, other };
  Kind kind;
  int argument;
  char text[1024];

  int set(Kind what, int which, const char* message) noexcept;
};

/// Describes a bound function: its name, its arguments, its documentation and its types.
/// `arguments` looks like "scores, lists, steepness?".
struct OpRow {
  const char* name;
  lua_CFunction function;
  const char* arguments;
  const char* doc;
  std::vector<std::string> (*types)();  // returns the types of the arguments, then "->", then the types of the results
};

/// Key of a table in the Lua registry that maps functions of the standard library to their names in errors. In Lua, it
/// is the field `public_names` of the core module.
inline constexpr const char* public_names = "moonrank.public_names";

/// Raises a failure as a Lua error that names the script's file and line, the function and the argument. Never returns.
int raise(lua_State* L, const OpRow& row, const Failure& failure);
/// Pushes "file:line: " of the innermost frame outside of the standard library, like luaL_where.
void push_script_position(lua_State* L);

}  // namespace mr::lua

namespace mr {

/// Thrown for a wrong value of an argument, given by name; the binder adds the argument's number. Other std::exceptions
/// are raised with their text.
class ArgumentError : public std::invalid_argument {
 public:
  ArgumentError(std::string argument, const std::string& text)
      : std::invalid_argument(without_zeros(text)), argument_(std::move(argument)) {}
  const std::string& argument() const { return argument_; }

 private:
  std::string argument_;
};

/// Returns a number for a message: the shortest decimal text that parses to it, or "NaN".
std::string number_text(double x);

}  // namespace mr
