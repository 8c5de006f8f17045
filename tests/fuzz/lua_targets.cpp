#include "tests/fuzz/lua_targets.h"

#include "runtime/lua/bind.h"
#include "runtime/lua/state.h"
#include "tests/fuzz/reading.h"
#include "tests/support/temporary_folder.h"

namespace mr::fuzz {
namespace {

/// Lua function: opens Moonrank, runs the Lua file whose name is its argument, and returns the table that the file
/// returns.
int open_file(lua_State* L) {
  lua::open(L);
  if (luaL_loadfilex(L, lua_tostring(L, 1), "t") != LUA_OK) return lua_error(L);
  lua_call(L, 0, 1);
  return 1;
}

/// A Lua state in which lua_targets.lua is loaded, for the whole run, and a temporary folder for files that the
/// functions of lua_targets.lua write.
class Lua {
 public:
  Lua() : L_(luaL_newstate()) {
    lua_pushcfunction(L_, &open_file);
    lua_pushliteral(L_, MR_SOURCE_DIR "/tests/fuzz/lua_targets.lua");
    check(lua_pcall(L_, 1, 1, 0));
  }
  ~Lua() { lua_close(L_); }
  Lua(const Lua&) = delete;
  Lua& operator=(const Lua&) = delete;

  /// Runs the parser `name` on `bytes`. Returns what it did wrong, or "" if nothing.
  std::string run(const std::string& name, std::string_view bytes, const std::string& path) {
    lua_getfield(L_, 1, "run");
    lua_pushlstring(L_, name.data(), name.size());
    lua_pushlstring(L_, bytes.data(), bytes.size());
    lua_pushlstring(L_, path.data(), path.size());
    lua_pushstring(L_, folder_.path().c_str());
    check(lua_pcall(L_, 4, 1, 0));
    return text();
  }

  /// Returns the seed inputs of each parser, by the parser's name.
  std::map<std::string, std::vector<std::string>> seeds() {
    std::map<std::string, std::vector<std::string>> found;
    lua_getfield(L_, 1, "seeds");
    lua_pushstring(L_, folder_.path().c_str());
    check(lua_pcall(L_, 1, 1, 0));
    for (lua_pushnil(L_); lua_next(L_, 2) != 0; lua_pop(L_, 1)) {
      std::vector<std::string>& texts = found[lua_tostring(L_, 3)];
      for (lua_Integer i = 1; lua_rawgeti(L_, 4, i) != LUA_TNIL; ++i) texts.push_back(text());
      lua_pop(L_, 1);
    }
    lua_pop(L_, 1);
    return found;
  }

 private:
  std::string text() {
    size_t length = 0;
    const char* const bytes = lua_tolstring(L_, -1, &length);
    std::string found(bytes != nullptr ? bytes : "", length);
    lua_pop(L_, 1);
    return found;
  }
  void check(int status) {
    if (status != LUA_OK) throw std::logic_error(text());
  }

  lua_State* L_;
  test::TemporaryFolder folder_;
};

Lua& lua_of_run() {
  static Lua one;
  return one;
}

void call(const std::string& name, std::string_view bytes) {
  const MemoryFile file(bytes);
  if (const std::string found = lua_of_run().run(name, bytes, file.path()); !found.empty())
    throw std::logic_error(name + ": " + found);
}

}  // namespace

std::map<std::string, Target> lua_targets() {
  std::map<std::string, Target> found;
  for (const char* const name :
       {"checkpoint", "comparisons", "fit_checkpoint", "image_labels", "item_features", "message", "metric_words",
        "model", "optimizer", "script_options", "store_json", "store_rows"})
    found[name] = [name](std::string_view bytes) { call(name, bytes); };
  return found;
}

std::map<std::string, std::vector<std::string>> lua_seeds() { return lua_of_run().seeds(); }

}  // namespace mr::fuzz
