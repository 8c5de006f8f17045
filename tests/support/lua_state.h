// A Lua state in which Moonrank is loaded, for one test.
#pragma once

#include <stdexcept>
#include <string>

#include <catch2/catch.hpp>

#include "runtime/lua/bind.h"
#include "runtime/lua/state.h"

namespace mr::test {

inline int open_moonrank(lua_State* L) {
  lua::open(L);
  return 0;
}

class LuaState {
 public:
  explicit LuaState(lua_Alloc allocate = nullptr, void* data = nullptr)
      : L_(allocate != nullptr ? lua_newstate(allocate, data) : luaL_newstate()) {
    lua_pushcfunction(L_, &open_moonrank);
    if (lua_pcall(L_, 0, 0, 0) != LUA_OK) fail();
  }
  ~LuaState() { lua_close(L_); }
  LuaState(const LuaState&) = delete;
  LuaState& operator=(const LuaState&) = delete;
  operator lua_State*() const { return L_; }

  /// Runs Lua code in which `mr` and `core` are local variables; leaves `results` values on the stack.
  void run(const std::string& code, int results = 0) {
    load(code);
    if (lua_pcall(L_, 0, results, 0) != LUA_OK) fail();
  }
  /// Runs Lua code and returns the message of the error that it raises; empty if it raises none.
  std::string error_of(const std::string& code) {
    load(code);
    if (lua_pcall(L_, 0, 0, 0) == LUA_OK) return "";
    std::string message = lua_type(L_, -1) == LUA_TSTRING ? lua_tostring(L_, -1) : "(no text)";
    lua_pop(L_, 1);
    return message;
  }
  /// Compiles Lua code and pushes it as a function that has not run yet.
  void load(const std::string& code) {
    const std::string text = "local core, mr = require 'moonrank.core', require 'moonrank' " + code;
    if (luaL_loadbufferx(L_, text.data(), text.size(), "=test", "t") != LUA_OK) fail();
  }
  /// Runs two full garbage collections, which also free objects that have finalizers.
  void collect() {
    lua_gc(L_, LUA_GCCOLLECT);
    lua_gc(L_, LUA_GCCOLLECT);
  }

 private:
  [[noreturn]] void fail() {
    const char* const message = lua_tostring(L_, -1);
    throw std::runtime_error(message != nullptr ? message : "an error without text");
  }
  lua_State* L_;
};

}  // namespace mr::test
