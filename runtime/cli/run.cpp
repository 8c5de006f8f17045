#include "runtime/cli/run.h"

#include <cstdio>
#include <cstring>
#include <new>

#include "runtime/io/safe_text.h"
#include "runtime/lua/error_text.h"
#include "runtime/lua/exit.h"
#include "runtime/lua/interrupt.h"

namespace mr::cli {
namespace {

// limit of a traceback: the first and last frames suffice, because an endless recursion has thousands
constexpr int most_frames = 20;

/// Appends a line about a stack frame to a traceback and returns true. Returns false for the frame of a C function,
/// which is left out.
bool add_frame(lua_State* L, luaL_Buffer* out, lua_Debug* frame) {
  lua_getinfo(L, "Slnt", frame);
  if (*frame->what == 'C') return false;
  const bool main = std::strcmp(frame->what, "main") == 0;
  lua_pushfstring(L, "\n  %s:%d: in ", frame->short_src, frame->currentline);
  luaL_addvalue(out);
  if (main) {
    lua_pushliteral(L, "main chunk");
  } else if (*frame->namewhat != '\0') {
    lua_pushfstring(L, "%s '%s'", std::strcmp(frame->namewhat, "method") == 0 ? "method" : "function", frame->name);
  } else {
    lua_pushfstring(L, "function <%s:%d>", frame->short_src, frame->linedefined);
  }
  luaL_addvalue(out);
  return true;
}

/// Returns the number of stack frames, found by doubling and bisection. Looking up one frame takes time proportional to
/// its depth, and an endless recursion is 200,000 frames deep.
int count_frames(lua_State* L) {
  lua_Debug frame;
  int there = 0, not_there = 1;
  while (lua_getstack(L, not_there, &frame) != 0) {
    there = not_there;
    not_there *= 2;
  }
  while (not_there - there > 1) {
    const int middle = there + (not_there - there) / 2;
    (lua_getstack(L, middle, &frame) != 0 ? there : not_there) = middle;
  }
  return not_there;
}

bool has_script_frame(lua_State* L) {
  lua_Debug frame;
  for (int level = 1; lua_getstack(L, level, &frame) != 0; ++level) {
    lua_getinfo(L, "S", &frame);
    if (*frame.what != 'C' && std::strncmp(frame.source, "@stdlib/", 8) != 0) return true;
  }
  return false;
}

/// A C function for Lua with arguments `module` and `name`. It returns require(module)[name].
int find_function(lua_State* L) {
  lua_getglobal(L, "require");
  lua_pushvalue(L, 1);
  lua_call(L, 1, 1);
  lua_pushvalue(L, 2);
  lua_gettable(L, -2);
  return 1;
}

/// A C function for Lua that returns require("moonrank.prompt.advice").add(message), the message with advice added.
int advised(lua_State* L) {
  lua_pushcfunction(L, &find_function);
  lua_pushliteral(L, "moonrank.prompt.advice");
  lua_pushliteral(L, "add");
  lua_call(L, 2, 1);
  lua_pushvalue(L, 1);
  lua_call(L, 1, 1);
  return 1;
}

/// Adds advice to the error on top of the stack if it is one that Lua itself raised. If the advice cannot be computed,
/// for example after a stack overflow, the error stays unchanged.
void add_advice(lua_State* L) {
  if (lua_type(L, -1) != LUA_TSTRING || lua_checkstack(L, 4) == 0) return;
  lua_pushcfunction(L, &advised);
  lua_pushvalue(L, -2);
  if (lua_pcall(L, 1, 1, 0) == LUA_OK && lua_type(L, -1) == LUA_TSTRING) {
    lua_remove(L, -2);
  } else {
    lua_pop(L, 1);
  }
}

/// Message handler of protected calls: turns an error into text with a traceback. An Exit object, by which a script
/// ends the program, stays unchanged.
int explain(lua_State* L) {
  if (lua::box_at<lua::Exit>(L, 1) != nullptr) return 1;
  lua::push_error_text(L, 1);
  add_advice(L);
  const char* const message = lua_tostring(L, -1);
  if (std::strcmp(message, "interrupted") == 0) return 1;
  // No script is on the stack and the error has no position in a file. It is then about the command line or typed
  // input, and a traceback would not help.
  if (!has_script_frame(L) && std::strncmp(message, "stdlib/", 7) != 0) {
    return 1;
  }
  luaL_Buffer out;
  luaL_buffinit(L, &out);
  lua_pushvalue(L, 2);
  luaL_addvalue(&out);
  lua_Debug frame;
  const int frames = count_frames(L);
  for (int level = 1, shown = 0; lua_getstack(L, level, &frame) != 0; ++level) {
    if (shown == most_frames / 2 && frames - level > most_frames / 2) {
      luaL_addstring(&out, "\n  ...");
      level = frames - most_frames / 2;
      shown = most_frames;
      continue;
    }
    if (add_frame(L, &out, &frame)) ++shown;
  }
  luaL_pushresult(&out);
  return 1;
}

/// Prints the error on top of the Lua stack, removes it, and returns the exit status.
int report(lua_State* L) {
  int status = lua::interrupted() ? 130 : 1;
  std::fflush(stdout);
  const lua::Box<lua::Exit>* const box = lua::box_at<lua::Exit>(L, -1);
  if (box != nullptr && box->alive) {
    const lua::Exit& leaves = *box->get();
    status = static_cast<int>(leaves.status);
    if (status == 0) {
      std::printf("%s\n", leaves.message.c_str());
    } else {
      print_error(leaves.message);
    }
  } else {
    print_error(error_at_top(L));
  }
  lua_pop(L, 1);
  return status;
}

}  // namespace

void print_error(std::string_view text) noexcept {
  try {
    const std::string safe = io::safe_text(text, io::Breaks::kept);
    std::fprintf(stderr, "moonrank: %s\n", safe.c_str());
  } catch (const std::bad_alloc&) {
    std::fputs("moonrank: out of memory\n", stderr);
  }
}

std::string_view error_at_top(lua_State* L) noexcept {
  if (lua_type(L, -1) != LUA_TSTRING) return "(error without a text)";
  size_t length = 0;
  const char* const text = lua_tolstring(L, -1, &length);
  return {text, length};
}

int call(lua_State* L, int arguments, int results) {
  const int base = lua_gettop(L) - arguments;
  lua_pushcfunction(L, &explain);
  lua_insert(L, base);
  const int status = lua_pcall(L, arguments, results, base);
  lua_remove(L, base);
  return status == LUA_OK ? 0 : report(L);
}

int call_loaded(lua_State* L, int load_status, int results) {
  if (load_status == LUA_OK) return call(L, 0, results);
  if (load_status == LUA_ERRSYNTAX) add_advice(L);
  return report(L);
}

int push_function(lua_State* L, const char* module, const char* name) {
  lua_pushcfunction(L, &find_function);
  lua_pushstring(L, module);
  lua_pushstring(L, name);
  return call(L, 2, 1);
}

int call_module(lua_State* L, const char* module, const char* name, const char* argument, int results) {
  if (const int status = push_function(L, module, name); status != 0) return status;
  if (argument != nullptr) lua_pushstring(L, argument);
  return call(L, argument != nullptr ? 1 : 0, results);
}

void set_arguments(lua_State* L, const std::vector<std::string>& words, int script_at) {
  lua_createtable(L, static_cast<int>(words.size()), script_at + 1);
  for (size_t i = 0; i < words.size(); ++i) {
    lua_pushstring(L, words[i].c_str());
    lua_rawseti(L, -2, static_cast<lua_Integer>(i) - script_at);
  }
  lua_setglobal(L, "arg");
}

int set_strict(lua_State* L, bool on) {
  return call_module(L, "moonrank.prompt.strict", on ? "on" : "off", nullptr, 0);
}

}  // namespace mr::cli
