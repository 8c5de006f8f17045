#include "runtime/lua/failure.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "runtime/lua/interrupt.h"

namespace mr::lua {
namespace {

bool in_stdlib(const lua_Debug& frame) { return std::strncmp(frame.source, "@stdlib/", 8) == 0; }

/// The stack frame through which a script entered the standard library or the core module, and whether it called the
/// core directly.
struct Entry {
  lua_Debug frame;
  bool direct;
  bool found;
};

Entry entry_of(lua_State* L) {
  Entry entry{};
  lua_Debug inner;
  if (lua_getstack(L, 0, &inner) == 0) return entry;
  lua_getinfo(L, "Sn", &inner);
  entry = {inner, true, true};
  for (int level = 1;; ++level) {
    lua_Debug outer;
    if (lua_getstack(L, level, &outer) == 0) break;
    lua_getinfo(L, "Sn", &outer);
    if (!in_stdlib(outer) && *outer.what != 'C') break;
    if (in_stdlib(outer)) entry = {outer, false, true};
  }
  return entry;
}

/// Pushes the name under which scripts know the function of a stack frame, such as "mr.evaluate", and returns it.
/// Pushes nil and returns null if the standard library has not named the function.
const char* push_public_name(lua_State* L, lua_Debug* frame) {
  lua_getfield(L, LUA_REGISTRYINDEX, public_names);
  lua_getinfo(L, "f", frame);
  const int type = lua_rawget(L, -2);
  lua_remove(L, -2);
  return type == LUA_TSTRING ? lua_tostring(L, -1) : nullptr;
}

/// Returns the name of the n-th argument in "a, b?, c", without the question mark.
std::string_view argument_name(const char* names, int n) {
  std::string_view rest = names;
  for (int i = 1; i < n; ++i) {
    const size_t comma = rest.find(", ");
    if (comma == std::string_view::npos) return {};
    rest.remove_prefix(comma + 2);
  }
  return rest.substr(0, rest.find_first_of("?,"));
}

int number_of(const char* names, const char* wanted) {
  for (int n = 1;; ++n) {
    const std::string_view name = argument_name(names, n);
    if (name.empty()) return 0;
    if (name == wanted) return n;
  }
}

}  // namespace

int Failure::set(Kind what, int which, const char* message) noexcept {
  kind = what;
  argument = which;
  std::snprintf(text, sizeof text, "%s", message);
  return -1;
}

void push_script_position(lua_State* L) {
  lua_Debug frame;
  for (int level = 1; lua_getstack(L, level, &frame) != 0; ++level) {
    lua_getinfo(L, "Sl", &frame);
    if (frame.currentline > 0 && !in_stdlib(frame)) {
      lua_pushfstring(L, "%s:%d: ", frame.short_src, frame.currentline);
      return;
    }
  }
  lua_pushliteral(L, "");
}

int raise(lua_State* L, const OpRow& row, const Failure& failure) {
  if (failure.kind == Failure::other && std::strcmp(failure.text, "interrupted") == 0) return raise_interrupted(L);
  Entry entry = entry_of(L);
  const char* const known = entry.found ? push_public_name(L, &entry.frame) : nullptr;
  push_script_position(L);
  // A field is read by Lua's metamethod "index". The error names the field's C++ function instead, which says more.
  const bool is_field = entry.found && !entry.direct && std::strcmp(entry.frame.namewhat, "metamethod") == 0;
  // Lua names a function "?" that was called by a name it cannot tell, as in x[name](x).
  const bool is_named =
      entry.found && entry.frame.name != nullptr && std::strcmp(entry.frame.name, "?") != 0 && !is_field;
  const char* const function = known != nullptr ? known : is_named ? entry.frame.name : row.name;
  int argument = failure.argument;
  char name[64] = "";
  // Only failures of the kind "value" have a text of the form "name \x1f message", where `name` is an argument. The
  // texts of other failures may contain the byte \x1f by chance, in a word from a file.
  const bool named = failure.kind == Failure::value && argument == 0;
  const char* const mark = named ? std::strchr(failure.text, '\x1f') : nullptr;
  if (mark != nullptr) {
    const size_t length = static_cast<size_t>(mark - failure.text);
    std::snprintf(name, sizeof name, "%.*s", static_cast<int>(length), failure.text);
    argument = number_of(row.arguments, name);
  } else if (argument > 0) {
    const std::string_view found = argument_name(row.arguments, argument);
    std::snprintf(name, sizeof name, "%.*s", static_cast<int>(found.size()), found.data());
  }
  const char* const text = mark != nullptr ? mark + 1 : failure.text;
  if (failure.kind == Failure::other || failure.kind == Failure::memory) {
    lua_pushfstring(L, "%s: %s", function, text);
  } else if (argument == 1 && std::strcmp(name, "self") == 0) {
    // x.sum(y) instead of x:sum(y) passes y as `self`: the message then suggests the colon.
    const bool is_method = failure.kind == Failure::type && entry.direct && *function != '_';
    lua_pushfstring(L, is_method ? "%s: %s. Write x:%s(...) with a colon" : "%s: %s", function, text, function);
  } else if (!entry.direct || argument == 0) {
    lua_pushfstring(L, "bad argument '%s' to '%s' (%s)", name, function, text);
  } else {
    if (std::strcmp(entry.frame.namewhat, "method") == 0) --argument;
    lua_pushfstring(L, "bad argument #%d '%s' to '%s' (%s)", argument, name, function, text);
  }
  lua_concat(L, 2);
  return lua_error(L);
}

}  // namespace mr::lua

namespace mr {

std::string number_text(double x) {
  if (std::isnan(x)) return "NaN";
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), x).ptr};
}

}  // namespace mr
