// Converts C++ results to Lua values: a stack slot is reserved before the call (may raise); the result is moved into it
// (does not raise); at the end, strings, sequences and structs with fields are pushed out of their box (may raise).
#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "runtime/lua/box.h"
#include "runtime/lua/fields.h"

namespace mr::lua {

template <class T>
struct Result {  // converts a result that is an object of a C++ class which scripts can use
  static void reserve(lua_State* L) { reserve_box<T>(L); }
  static void put(lua_State* L, int slot, T&& value) noexcept {
    static_cast<Box<T>*>(lua_touserdata(L, slot))->fill(std::move(value));
  }
  static void finish(lua_State*, int) {}
};

template <class T>
struct PlainResult {
  static void reserve(lua_State* L) { lua_pushnil(L); }
  static void finish(lua_State*, int) {}
};

/// Returns the value; for NaN without its sign bit, which Lua would print as "-nan".
inline double plain_nan(double value) { return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value; }

template <>
struct Result<double> : PlainResult<double> {
  static void put(lua_State* L, int slot, double value) noexcept {
    lua_pushnumber(L, plain_nan(value));
    lua_replace(L, slot);
  }
};

template <>
struct Result<int64_t> : PlainResult<int64_t> {
  static void put(lua_State* L, int slot, int64_t value) noexcept {
    lua_pushinteger(L, value);
    lua_replace(L, slot);
  }
};

template <>
struct Result<bool> : PlainResult<bool> {
  static void put(lua_State* L, int slot, bool value) noexcept {
    lua_pushboolean(L, value ? 1 : 0);
    lua_replace(L, slot);
  }
};

inline void push_value(lua_State* L, double value) { lua_pushnumber(L, plain_nan(value)); }
inline void push_value(lua_State* L, int64_t value) { lua_pushinteger(L, value); }
inline void push_value(lua_State* L, bool value) { lua_pushboolean(L, value ? 1 : 0); }
inline void push_value(lua_State* L, const std::string& value) { lua_pushlstring(L, value.data(), value.size()); }
/// Pushes a result of a bound class: a copy of the handle in its own box (Lua userdata).
template <class T>
void push_value(lua_State* L, const T& value) {
  reserve_box<T>(L);
  static_cast<Box<T>*>(lua_touserdata(L, -1))->fill(T(value));
}
template <WithFields T>
void push_value(lua_State* L, const T& value);
template <class T>
void push_value(lua_State* L, const std::vector<T>& values) {
  lua_createtable(L, static_cast<int>(values.size()), 0);
  for (size_t i = 0; i < values.size(); ++i) {
    push_value(L, values[i]);
    lua_rawseti(L, -2, static_cast<lua_Integer>(i) + 1);
  }
}
template <WithFields T>
void push_value(lua_State* L, const T& value) {
  lua_createtable(L, 0, static_cast<int>(std::tuple_size_v<decltype(T::fields)>));
  each_field<T>([&](const auto& field) {
    push_value(L, value.*field.member);
    lua_setfield(L, -2, field.name);
  });
}

template <class T>
struct BoxedResult {
  static void reserve(lua_State* L) { reserve_box<T>(L); }
  static void put(lua_State* L, int slot, T&& value) noexcept {
    static_cast<Box<T>*>(lua_touserdata(L, slot))->fill(std::move(value));
  }
  static void finish(lua_State* L, int slot) {
    auto* const box = static_cast<Box<T>*>(lua_touserdata(L, slot));
    push_value(L, *box->get());
    box->drop();
    lua_replace(L, slot);
  }
};

template <>
struct Result<std::string> : BoxedResult<std::string> {};
template <class T>
struct Result<std::vector<T>> : BoxedResult<std::vector<T>> {};
template <WithFields T>
struct Result<T> : BoxedResult<T> {};

/// An empty optional becomes nil.
template <class T>
struct Result<std::optional<T>> {
  static void reserve(lua_State* L) { Result<T>::reserve(L); }
  static void put(lua_State* L, int slot, std::optional<T>&& value) noexcept {
    if (value) return Result<T>::put(L, slot, std::move(*value));
    lua_pushnil(L);
    lua_replace(L, slot);
  }
  static void finish(lua_State* L, int slot) {
    if (lua_type(L, slot) != LUA_TNIL) Result<T>::finish(L, slot);
  }
};

/// The number of Lua values of a C++ result, and the conversion steps for all of them.
template <class R>
struct Results {
  static constexpr int count = 1;
  static void reserve(lua_State* L) { Result<R>::reserve(L); }
  static void put(lua_State* L, int slot, R&& value) noexcept { Result<R>::put(L, slot, std::move(value)); }
  static void finish(lua_State* L, int slot) { Result<R>::finish(L, slot); }
};

template <>
struct Results<void> {
  static constexpr int count = 0;
  static void reserve(lua_State*) {}
  static void finish(lua_State*, int) {}
};

template <class... R>
struct Results<std::tuple<R...>> {
  static constexpr int count = sizeof...(R);
  static void reserve(lua_State* L) { (Result<R>::reserve(L), ...); }
  static void put(lua_State* L, int slot, std::tuple<R...>&& value) noexcept {
    std::apply([&](R&... each) { ((Result<R>::put(L, slot++, std::move(each))), ...); }, value);
  }
  static void finish(lua_State* L, int slot) { ((Result<R>::finish(L, slot++)), ...); }
};

}  // namespace mr::lua
