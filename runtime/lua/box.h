// C++ objects inside Lua userdata. A box is allocated empty ("dead") with its metatable before any C++ work starts, so
// that a result can be moved in without an allocation, which could raise. Collecting a dead box does nothing, and
// dropping a box twice is harmless.
#pragma once

#include <new>
#include <string>
#include <utility>
#include <vector>

#include "runtime/lua/lua.h"

namespace mr::lua {

template <class T>
struct Box {
  bool alive;
  alignas(T) unsigned char raw[sizeof(T)];

  T* get() { return std::launder(reinterpret_cast<T*>(raw)); }
  const T* get() const { return std::launder(reinterpret_cast<const T*>(raw)); }
  void fill(T&& value) noexcept {
    new (raw) T(std::move(value));
    alive = true;
  }
  void drop() noexcept {
    if (!alive) return;
    alive = false;
    get()->~T();
  }
};

/// The address of this variable is the registry key of T's metatable.
template <class T>
inline char class_key = 0;

/// The name of class T in error messages. Each class that scripts can use specializes this variable.
template <class T>
constexpr const char* class_name = "internal value";

/// Returns the box at a stack index, dead or alive, or null if the value is not a box of T. Never raises.
template <class T>
Box<T>* box_at(lua_State* L, int index) noexcept {
  if (lua_type(L, index) != LUA_TUSERDATA || lua_getmetatable(L, index) == 0) return nullptr;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &class_key<T>);
  const bool same = lua_rawequal(L, -1, -2) != 0;
  lua_pop(L, 2);
  return same ? static_cast<Box<T>*>(lua_touserdata(L, index)) : nullptr;
}

template <class T>
int drop_box(lua_State* L) noexcept {
  if (Box<T>* const box = box_at<T>(L, 1)) box->drop();
  return 0;
}

/// Pushes the metatable of T. The first call creates it with only a finalizer. May raise.
template <class T>
void push_metatable(lua_State* L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &class_key<T>) == LUA_TTABLE) return;
  lua_pop(L, 1);
  lua_createtable(L, 0, 8);
  lua_pushstring(L, class_name<T>);
  lua_setfield(L, -2, "__name");
  // Stores the class name again, under a key that describe_type_error can read without allocating memory.
  lua_pushlightuserdata(L, const_cast<char*>(class_name<T>));  // NOLINT: the name is only read
  lua_rawsetp(L, -2, &class_key<void>);
  lua_pushcfunction(L, &drop_box<T>);
  lua_setfield(L, -2, "__gc");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &class_key<T>);
}

template <class T>
void reserve_box(lua_State* L) {
  auto* const box = static_cast<Box<T>*>(lua_newuserdatauv(L, sizeof(Box<T>), 0));
  box->alive = false;
  push_metatable<T>(L);
  lua_setmetatable(L, -2);
}

}  // namespace mr::lua
