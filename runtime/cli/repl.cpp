#include "runtime/cli/repl.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>
#include <unistd.h>

#include "runtime/cli/line_reader.h"
#include "runtime/cli/run.h"
#include "runtime/io/files/regular_file.h"
#include "runtime/io/files/user_folder.h"
#include "runtime/lua/interrupt.h"

namespace mr::cli {
namespace {

constexpr int third_press = 3;  // the third Ctrl-C ends the program and loses the session's data

std::string history_file() {
  try {
    const std::filesystem::path folder = io::user_state_folder();
    std::filesystem::create_directories(folder);
    io::need_regular((folder / "history").string());
    return (folder / "history").string();
  } catch (const std::exception&) {
    return "";  // without a home folder no history is kept: the empty path says so
  }
}

/// The functions of Lua module moonrank.prompt.repl that the session calls, as references in the Lua registry. So a
/// script that changes the module cannot break the session.
struct Functions {
  int chunk, complete, is_leaving;
};

/// A C function for Lua that calls f(text) and returns its two results. The stack has f and the address of a C++
/// string, from which `text` is made inside the protected call.
int call_on_text(lua_State* L) {
  const std::string& text = *static_cast<const std::string*>(lua_touserdata(L, 2));
  lua_settop(L, 1);
  lua_pushlstring(L, text.data(), text.size());
  lua_call(L, 1, 2);
  return 2;
}

void push_on_text(lua_State* L, int function, const std::string& text) {
  lua_pushcfunction(L, &call_on_text);
  lua_rawgeti(L, LUA_REGISTRYINDEX, function);
  lua_pushlightuserdata(L, const_cast<std::string*>(&text));
}

/// Returns completions of the typed text left of the cursor. The Lua function with the registry reference `function`
/// finds them. Its errors are ignored: they must not disturb typing.
Completions complete(lua_State* L, int function, const std::string& before) {
  Completions found;
  const int top = lua_gettop(L);
  push_on_text(L, function, before);
  if (lua_pcall(L, 2, 2, 0) == LUA_OK && lua_type(L, -2) == LUA_TNUMBER && lua_type(L, -1) == LUA_TTABLE) {
    found.start = static_cast<size_t>(std::clamp<lua_Integer>(lua_tointeger(L, -2), 1, before.size() + 1) - 1);
    for (lua_Integer i = 1; lua_rawgeti(L, -1, i) == LUA_TSTRING; ++i) {
      found.words.emplace_back(lua_tostring(L, -1));
      lua_pop(L, 1);
    }
  }
  lua_settop(L, top);
  return found;
}

/// Compiles typed text by the Lua function with the registry reference `function`. Pushes the compiled chunk or a
/// syntax error, and returns LUA_OK or LUA_ERRSYNTAX. After any other error it returns LUA_ERRRUN.
int load_chunk(lua_State* L, int function, const std::string& text) {
  push_on_text(L, function, text);
  if (call(L, 2, 2) != 0) return LUA_ERRRUN;
  const bool loaded = lua_type(L, -2) == LUA_TFUNCTION;
  if (loaded) {
    lua_pop(L, 1);
  } else {
    lua_remove(L, -2);
  }
  return loaded ? LUA_OK : LUA_ERRSYNTAX;
}

bool is_incomplete(lua_State* L, int status) {
  constexpr size_t mark_length = 5;
  if (status != LUA_ERRSYNTAX) return false;
  size_t length = 0;
  const char* const message = lua_tolstring(L, -1, &length);
  return length >= mark_length && std::strcmp(message + length - mark_length, "<eof>") == 0;
}

class Session {
 public:
  Session(lua_State* L, Functions functions)
      : L_(L),
        functions_(functions),
        reader_(make_line_reader(isatty(STDIN_FILENO) != 0 ? history_file() : "",
                                 [this](const std::string& before) { return complete_line(before); })) {}

  /// Runs the interactive session until it ends. Returns the first nonzero status of a chunk of code, or 0.
  int run() {
    for (;;) {
      lua_settop(L_, 0);
      lua::ignore_interrupts();
      if (!next()) break;
      if (is_leaving()) return status_;
    }
    if (isatty(STDIN_FILENO) != 0) std::puts("");
    return status_;
  }

 private:
  /// Reads and runs one chunk of code; returns false at the end of the input. If memory runs out, the session continues
  /// with the next chunk.
  bool next() {
    try {
      std::string text;
      const LineReader::Got got = reader_->read("> ", &text);
      if (got == LineReader::Got::end) return false;
      if (got == LineReader::Got::line && text.find_first_not_of(" \t\r") != std::string::npos) one(text);
    } catch (const std::bad_alloc&) {
      print_error("out of memory");
      pending_.clear();
      note(1);
    }
    return true;
  }

  /// Returns completions at the cursor. If a chunk of code is unfinished, its earlier lines are taken into account.
  Completions complete_line(const std::string& before) {
    Completions found = complete(L_, functions_.complete, pending_ + before);
    if (found.start < pending_.size()) return {before.size(), {}};
    found.start -= pending_.size();
    return found;
  }

  /// Runs the chunk of code that begins with the line `text`. If the chunk is incomplete, more lines are read first.
  void one(std::string text) {
    int status = load_chunk(L_, functions_.chunk, text);
    while (is_incomplete(L_, status)) {
      std::string more;
      pending_ = text + "\n";
      const LineReader::Got got = reader_->read(">> ", &more);
      pending_.clear();
      if (got == LineReader::Got::interrupt) return;
      if (got == LineReader::Got::end) break;
      text += "\n" + more;
      lua_pop(L_, 1);
      status = load_chunk(L_, functions_.chunk, text);
    }
    reader_->remember(text);
    // The text could not be compiled, for example because memory ran out. The error has been printed already.
    if (status == LUA_ERRRUN) return note(1);
    lua::watch_interrupts(L_, third_press);
    const int ended = call_loaded(L_, status, LUA_MULTRET);
    note(ended);
    if (ended == 0 && lua_gettop(L_) > 0) show();
    std::fflush(stdout);
  }

  void note(int status) {
    if (status_ == 0) status_ = status;
  }

  bool is_leaving() {
    lua::ignore_interrupts();
    lua_settop(L_, 0);
    lua_rawgeti(L_, LUA_REGISTRYINDEX, functions_.is_leaving);
    return call(L_, 0, 1) == 0 && lua_toboolean(L_, -1) != 0;
  }

  void show() {
    const int count = lua_gettop(L_);
    if (lua_checkstack(L_, count + 10) == 0) {
      print_error(std::to_string(count) + " values are too many to show");
      return note(1);
    }
    if (const int status = push_function(L_, "moonrank.prompt.repl", "print"); status != 0) return note(status);
    lua_insert(L_, 1);
    note(call(L_, count, 0));
  }

  lua_State* L_;
  Functions functions_;
  std::unique_ptr<LineReader> reader_;
  std::string pending_;  // the lines typed so far of an incomplete chunk of code
  int status_ = 0;
};

}  // namespace

int run_repl(lua_State* L) {
  lua_State* const main_state = L;
  lua::watch_interrupts(L, third_press);
  if (const int status = set_strict(L, false); status != 0) return status;
  if (const int status = call_module(L, "moonrank.prompt.repl", "enter", nullptr, 3); status != 0) return status;
  Functions functions{};
  functions.is_leaving = luaL_ref(L, LUA_REGISTRYINDEX);
  functions.complete = luaL_ref(L, LUA_REGISTRYINDEX);
  functions.chunk = luaL_ref(L, LUA_REGISTRYINDEX);
  const int status = Session(main_state, functions).run();
  return isatty(STDIN_FILENO) != 0 ? 0 : status;
}

}  // namespace mr::cli
