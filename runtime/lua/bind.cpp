#include "runtime/lua/bind.h"

#include <cmath>
#include <cstdio>
#include <string_view>

namespace mr::lua {

namespace {

const char* why_no_integer(double number) {
  if (!std::isfinite(number)) return std::isnan(number) ? "NaN" : "infinity";
  return number == std::floor(number) ? "a number beyond 64 bits" : "a number with a fraction";
}

}  // namespace

std::optional<std::string> key_beside(lua_State* L, int i, lua_Integer n) {
  lua_pushnil(L);
  while (lua_next(L, i) != 0) {
    lua_pop(L, 1);
    if (lua_isinteger(L, -1) != 0 && lua_tointegerx(L, -1, nullptr) >= 1 && lua_tointegerx(L, -1, nullptr) <= n)
      continue;
    std::string key = "of another type";
    if (lua_type(L, -1) == LUA_TSTRING) key = without_zeros(Arg<std::string>::get(L, lua_gettop(L)));
    if (lua_isinteger(L, -1) != 0) key = std::to_string(lua_tointegerx(L, -1, nullptr));
    lua_pop(L, 1);
    return key;
  }
  return std::nullopt;
}

void describe_type_error(lua_State* L, const TypeError& error, Failure* out) noexcept {
  const int type = lua_type(L, error.argument);
  const char* found = type == LUA_TNONE ? "no value" : lua_typename(L, type);
  if (type == LUA_TUSERDATA && lua_getmetatable(L, error.argument) != 0) {
    // The metatable stores the class name as a C string under the key `class_key`, because the garbage collector could
    // free a Lua string while the message is made.
    lua_rawgetp(L, -1, &class_key<void>);
    if (const void* const name = lua_touserdata(L, -1)) found = static_cast<const char*>(name);
    lua_pop(L, 2);
  }
  if (type == LUA_TNUMBER && std::string_view(error.expected) == "integer")
    found = why_no_integer(lua_tonumber(L, error.argument));
  char text[200];
  std::snprintf(text, sizeof text, "%s expected, got %s", error.expected, found);
  out->set(Failure::type, error.argument, text);
}

void describe_closed_error(const ClosedError& error, Failure* out) noexcept {
  char text[200];
  std::snprintf(text, sizeof text, "%s used after it was closed", error.what);
  out->set(Failure::closed, error.argument, text);
}

void describe_key_beside(const KeyBesideError& error, Failure* out) noexcept {
  char text[300];
  std::snprintf(text, sizeof text,
                "a table with the field '%.100s' beside its elements, expected only elements; put options into a table "
                "of their own",
                error.key.c_str());
  out->set(Failure::type, error.argument, text);
}

void describe_argument_error(const ArgumentError& error, Failure* out) noexcept {
  out->set(Failure::value, 0, "");
  std::snprintf(out->text, sizeof out->text, "%s\x1f%s", error.argument().c_str(), error.what());
}

void unknown_exception([[maybe_unused]] Failure* out) noexcept {
#ifdef MR_LUA_CXX
  // A Lua function that raises an error was called while C++ objects were alive, which is a bug of the program.
  std::fputs("moonrank: a Lua error crossed C++ code\n", stderr);
  std::abort();
#else
  out->set(Failure::other, 0, "unknown C++ exception");
#endif
}

int raise_extra_arguments(lua_State* L, const OpRow& row, int expected, int got) {
  Failure failure;
  char text[200];
  // The object of a method, as x in x:exp(), is not counted.
  const std::string_view names = row.arguments;
  const int object = names.substr(0, 4) == "self" ? 1 : 0;
  const int most = expected - object;
  if (most == 0) {
    std::snprintf(text, sizeof text, "expected no arguments, got %d", got - object);
  } else {
    const char* const shown = row.arguments + (object == 1 ? std::string_view("self, ").size() : 0);
    std::snprintf(text, sizeof text, "expected at most %d argument%s (%.120s), got %d", most, most == 1 ? "" : "s",
                  shown, got - object);
  }
  failure.set(Failure::other, 0, text);
  return raise(L, row, failure);
}

}  // namespace mr::lua
