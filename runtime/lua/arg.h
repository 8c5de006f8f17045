// Converts values on Lua's stack to C++ arguments, strictly (a string is not a number, 3.5 is not an integer), using
// only functions of Lua's API that never raise. Throws TypeError if a conversion is impossible.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "runtime/lua/box.h"
#include "runtime/lua/failure.h"
#include "runtime/tensor/tensor.h"

namespace mr::lua {

/// A table argument which the C++ function reads from Lua's stack itself, instead of the binder converting it.
struct Table {
  lua_State* L;
  int index;
};

template <class T>
struct Arg {  // converts an argument that is an object of a C++ class which scripts can use
  static constexpr const char* expected = class_name<T>;
  static T& get(lua_State* L, int i) {
    Box<T>* const box = box_at<T>(L, i);
    if (box == nullptr) throw TypeError{i, class_name<T>};
    if (!box->alive) throw ClosedError{i, class_name<T>};
    return *box->get();
  }
  static bool is(lua_State* L, int i) { return box_at<T>(L, i) != nullptr; }
};

template <>
struct Arg<double> {
  static constexpr const char* expected = "number";
  static bool is(lua_State* L, int i) { return lua_type(L, i) == LUA_TNUMBER; }
  static double get(lua_State* L, int i) {
    if (!is(L, i)) throw TypeError{i, expected};
    return lua_tonumberx(L, i, nullptr);
  }
};

template <>
struct Arg<int64_t> {
  static constexpr const char* expected = "integer";
  static bool is(lua_State* L, int i) {
    int whole = 0;
    if (lua_type(L, i) != LUA_TNUMBER) return false;
    lua_tointegerx(L, i, &whole);
    return whole != 0;
  }
  static int64_t get(lua_State* L, int i) {
    if (!is(L, i)) throw TypeError{i, expected};
    return lua_tointegerx(L, i, nullptr);
  }
};

template <>
struct Arg<bool> {
  static constexpr const char* expected = "boolean";
  static bool is(lua_State* L, int i) { return lua_type(L, i) == LUA_TBOOLEAN; }
  static bool get(lua_State* L, int i) {
    if (!is(L, i)) throw TypeError{i, expected};
    return lua_toboolean(L, i) != 0;
  }
};

template <>
struct Arg<std::string> {
  static constexpr const char* expected = "string";
  static bool is(lua_State* L, int i) { return lua_type(L, i) == LUA_TSTRING; }
  static std::string get(lua_State* L, int i) {
    if (!is(L, i)) throw TypeError{i, expected};
    size_t length = 0;
    const char* const text = lua_tolstring(L, i, &length);
    return {text, length};
  }
};

template <>
struct Arg<Table> {
  static constexpr const char* expected = "table";
  static bool is(lua_State* L, int i) { return lua_type(L, i) == LUA_TTABLE; }
  static Table get(lua_State* L, int i) {
    if (!is(L, i)) throw TypeError{i, expected};
    return {L, i};
  }
};

template <class T>
struct Arg<std::optional<T>> {
  static std::optional<T> get(lua_State* L, int i) {
    if (lua_type(L, i) <= LUA_TNIL) return std::nullopt;
    return Arg<T>::get(L, i);
  }
};

template <class T>
struct Arg<std::variant<T, double>> {
  static std::variant<T, double> get(lua_State* L, int i) {
    if (lua_type(L, i) == LUA_TNUMBER) return lua_tonumberx(L, i, nullptr);
    if (!Arg<T>::is(L, i))
      throw TypeError{i, std::is_same_v<T, std::string> ? "string or number" : "mr.Tensor or number"};
    return Arg<T>::get(L, i);
  }
};

/// Returns the text of a table key that is not an integer from 1 to n, or nothing. Reading a sequence would ignore such
/// a field.
std::optional<std::string> key_beside(lua_State* L, int i, lua_Integer n);

template <class T>
struct Arg<std::vector<T>> {
  static constexpr const char* expected = "sequence";
  static std::vector<T> get(lua_State* L, int i) {
    if (lua_type(L, i) != LUA_TTABLE) throw TypeError{i, "table"};
    if (lua_checkstack(L, 4) == 0) throw std::bad_alloc();
    std::vector<T> values;
    const auto n = static_cast<lua_Integer>(lua_rawlen(L, i));
    for (lua_Integer k = 1; k <= n; ++k) {
      lua_rawgeti(L, i, k);
      if (!Arg<T>::is(L, -1)) {
        lua_pop(L, 1);
        throw TypeError{i, sequence_of()};
      }
      try {
        values.push_back(Arg<T>::get(L, lua_gettop(L)));
      } catch (const ClosedError& e) {
        throw ClosedError{i, e.what};
      }
      lua_pop(L, 1);
    }
    if (auto key = key_beside(L, i, n)) throw KeyBesideError{i, std::move(*key)};
    return values;
  }
  static const char* sequence_of() {
    if constexpr (std::is_same_v<T, double>) return "sequence of numbers";
    if constexpr (std::is_same_v<T, int64_t>) return "sequence of integers";
    if constexpr (std::is_same_v<T, std::string>) return "sequence of strings";
    return "sequence of tensors";
  }
};

}  // namespace mr::lua
