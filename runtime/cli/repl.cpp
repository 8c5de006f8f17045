#include "runtime/cli/repl.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <unistd.h>

#include "runtime/cli/line_reader.h"
#include "runtime/cli/run.h"
#include "runtime/io/regular_file.h"
#include "runtime/io/user_folder.h"
#include "runtime/lua/interrupt.h"

namespace mr::cli {
namespace {

constexpr int third_press = 3;  // ending the session loses its data: the second Ctrl-C still only raises an error

std::string history_file() {
  try {
    const std::filesystem::path folder = io::user_state_folder();
    std::filesystem::create_directories(folder);
    io::need_regular((folder / "history").string());
    return (folder / "history").string();
  } catch (const std::exception&) {
    return "";  // no home, or no file there: no history
  }
}

/// Lua: moonrank.repl's complete(before) -> start, words. The argument is the address of the text.
int call_complete(lua_State* L) {
  const std::string& before = *static_cast<const std::string*>(lua_touserdata(L, 1));
  lua_getglobal(L, "require");
  lua_pushliteral(L, "moonrank.repl");
  lua_call(L, 1, 1);
  lua_getfield(L, -1, "complete");
  lua_pushlstring(L, before.data(), before.size());
  lua_call(L, 1, 2);
  return 2;
}

/// What may follow the text left of the cursor. An error in there must not disturb the line being typed.
Completions complete(lua_State* L, std::string before) {
  Completions found;
  const int top = lua_gettop(L);
  lua_pushcfunction(L, &call_complete);
  lua_pushlightuserdata(L, &before);
  if (lua_pcall(L, 1, 2, 0) == LUA_OK && lua_type(L, -2) == LUA_TNUMBER && lua_type(L, -1) == LUA_TTABLE) {
    found.start = static_cast<size_t>(std::clamp<lua_Integer>(lua_tointeger(L, -2), 1, before.size() + 1) - 1);
    for (lua_Integer i = 1; lua_rawgeti(L, -1, i) == LUA_TSTRING; ++i) {
      found.words.emplace_back(lua_tostring(L, -1));
      lua_pop(L, 1);
    }
  }
  lua_settop(L, top);
  return found;
}

int load_chunk(lua_State* L, const std::string& text) {
  const std::string expression = "return " + text;
  if (luaL_loadbufferx(L, expression.data(), expression.size(), "=stdin", "t") == LUA_OK) return LUA_OK;
  lua_pop(L, 1);
  return luaL_loadbufferx(L, text.data(), text.size(), "=stdin", "t");
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
  explicit Session(lua_State* L)
      : L_(L),
        reader_(make_line_reader(isatty(STDIN_FILENO) != 0 ? history_file() : "",
                                 [L](const std::string& before) { return complete(L, before); })) {}

  void run() {
    for (;;) {
      lua_settop(L_, 0);
      lua::ignore_interrupts();
      std::string text;
      const LineReader::Got got = reader_->read("> ", &text);
      if (got == LineReader::Got::end) break;
      if (got == LineReader::Got::line && text.find_first_not_of(" \t\r") != std::string::npos) one(text);
    }
    if (isatty(STDIN_FILENO) != 0) std::puts("");
  }

 private:
  /// A chunk that begins with this line, and those that complete it.
  void one(std::string text) {
    int status = load_chunk(L_, text);
    while (is_incomplete(L_, status)) {
      std::string more;
      const LineReader::Got got = reader_->read(">> ", &more);
      if (got == LineReader::Got::interrupt) return;
      if (got == LineReader::Got::end) break;
      text += "\n" + more;
      lua_pop(L_, 1);
      status = load_chunk(L_, text);
    }
    reader_->remember(text);
    lua::watch_interrupts(L_, third_press);
    if (call_loaded(L_, status, LUA_MULTRET) == 0 && lua_gettop(L_) > 0) show();
    std::fflush(stdout);
  }

  /// Prints the values on the stack.
  void show() {
    const int count = lua_gettop(L_);
    if (lua_checkstack(L_, count + 10) == 0) return print_error(std::to_string(count) + " values are too many to show");
    if (push_function(L_, "moonrank.repl", "print") != 0) return;
    lua_insert(L_, 1);
    call(L_, count, 0);
  }

  lua_State* L_;
  std::unique_ptr<LineReader> reader_;
};

}  // namespace

int run_repl(lua_State* L) {
  lua_State* const main_state = L;
  lua::watch_interrupts(L, third_press);
  if (const int status = set_strict(L, false); status != 0) return status;
  if (const int status = call_module(L, "moonrank.repl", "enter", nullptr, 0); status != 0) return status;
  Session(main_state).run();
  return 0;
}

}  // namespace mr::cli
