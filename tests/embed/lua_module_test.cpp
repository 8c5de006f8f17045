// Tests of the Lua module moonrank.so, loaded by a program that has Lua states of its own.
#include <clocale>
#include <csignal>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <lua.hpp>

namespace {

struct Host {
  lua_State* L = luaL_newstate();
  Host() {
    luaL_openlibs(L);
    run("package.cpath = '" MR_MODULE_FOLDER "/?.so'");
  }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  ~Host() { lua_close(L); }
  /// Runs Lua code; returns its result, or the error message, as a text.
  std::string run(const char* code) const {
    luaL_dostring(L, code);
    const char* const text = lua_gettop(L) > 0 ? luaL_tolstring(L, -1, nullptr) : "";
    const std::string found = text;
    lua_settop(L, 0);
    return found;
  }
};

std::map<int, void*> handlers() {
  std::map<int, void*> found;
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) == 0) found[signal] = reinterpret_cast<void*>(action.sa_handler);
  }
  return found;
}

constexpr const char* gradient =
    "local mr = require 'moonrank' local w = mr.tensor({1, 2}):requires_grad(); (w * w):sum():backward() "
    "return w.grad:sum():item()";

}  // namespace

TEST_CASE("loading the module changes no signal handler and no locale", "[module]") {
  const std::map<int, void*> before = handlers();
  const std::string locale = std::setlocale(LC_ALL, nullptr);
  const Host host;
  CHECK(host.run(gradient) == "6.0");
  CHECK(handlers() == before);
  CHECK(std::setlocale(LC_ALL, nullptr) == locale);
}

TEST_CASE("two states have the library at once, and closing one leaves the other", "[module]") {
  const Host first;
  auto second = std::make_unique<Host>();
  CHECK(first.run("mr = require 'moonrank' x = mr.tensor{1, 2, 3} return x:sum():item()") == "6.0");
  CHECK(second->run("return x") == "nil");
  CHECK(second->run(gradient) == "6.0");
  second.reset();
  CHECK(first.run("return (x + x):sum():item()") == "12.0");
  CHECK(first.run(gradient) == "6.0");
}

TEST_CASE("closing a state returns the memory of its tensors", "[module]") {
  const Host other;
  const char* const held = "return require('moonrank.core').held_bytes()";
  other.run("mr = require 'moonrank'");
  const std::string before = other.run(held);
  {
    const Host host;
    host.run("mr = require 'moonrank' x = mr.zeros{1000, 1000}");
    CHECK(other.run(held) != before);
  }
  CHECK(other.run(held) == before);
}

TEST_CASE("states of two threads take turns", "[module]") {
  std::mutex turn;
  std::vector<std::string> found(2);
  const auto work = [&](size_t which) {
    std::unique_ptr<Host> host;
    for (int i = 0; i < 20; ++i) {
      const std::lock_guard lock(turn);
      if (!host) host = std::make_unique<Host>();
      found[which] = host->run(gradient);
    }
    const std::lock_guard lock(turn);
    host.reset();
  };
  std::thread first(work, 0), second(work, 1);
  first.join();
  second.join();
  CHECK(found == std::vector<std::string>{"6.0", "6.0"});
}

TEST_CASE("a state without Lua's libraries is an error", "[module]") {
  const Host host;
  host.run("package.loaded.utf8 = nil");
  const std::string found = host.run("return require 'moonrank'");
  CHECK(found.find("utf8") != std::string::npos);
}

TEST_CASE("the host keeps its searchers, load and print", "[module]") {
  const Host host;
  CHECK(host.run("table.insert(package.searchers, 1, function() end) own = package.searchers[1]"
                 " print = function() end p = print require 'moonrank'"
                 " return tostring(own == package.searchers[1] and p == print and load(string.dump(function() end)))")
            .find("function") == 0);
}
