// From a C++ exception to a Lua error: caught where it is thrown, kept as a record without a destructor, raised when no
// C++ object is alive any more.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/lua/lua.h"
#include "runtime/tensor/without_zeros.h"

namespace mr::lua {

/// An argument of the wrong type. `argument` counts from 1.
struct TypeError {
  int argument;
  const char* expected;
};

/// An argument that was closed before.
struct ClosedError {
  int argument;
  const char* what;
};

/// A sequence with a field beside its elements.
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
/// `arguments` looks like "scores, lists, gain?".
struct OpRow {
  const char* name;
  lua_CFunction function;
  const char* arguments;
  const char* doc;
  std::vector<std::string> (*types)();  // of the arguments, "->", of the results
};

/// Raises the record as a Lua error that starts with the script's file and line and names function and argument. Never
/// returns.
int raise(lua_State* L, const OpRow& row, const Failure& failure);
/// Pushes "file:line: " of the innermost frame that is not the standard library's, as luaL_where does for a level.
void push_script_position(lua_State* L);

}  // namespace mr::lua

namespace mr {

/// A bad value of an argument, known by name; the binder adds its number. Other std::exceptions are raised as they are.
class ArgumentError : public std::invalid_argument {
 public:
  ArgumentError(std::string argument, const std::string& text)
      : std::invalid_argument(without_zeros(text)), argument_(std::move(argument)) {}
  const std::string& argument() const { return argument_; }

 private:
  std::string argument_;
};

}  // namespace mr
