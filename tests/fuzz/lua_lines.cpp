#include "tests/fuzz/lua_lines.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <utility>

namespace mr::fuzz {
namespace {

__attribute__((section("__libfuzzer_extra_counters"))) uint8_t counters[1 << 14];

void count_line(lua_State* L, lua_Debug* frame) {
  lua_getinfo(L, "S", frame);
  size_t place = static_cast<size_t>(frame->currentline);
  for (const char* source = frame->source; *source != '\0'; ++source)
    place = 31 * place + static_cast<unsigned char>(*source);
  uint8_t& counter = counters[place % sizeof counters];
  if (counter < UINT8_MAX) ++counter;
}

using Place = std::pair<std::string, int>;

struct Record {
  std::string path;
  std::set<Place> functions;    // that were entered, by the line where they begin
  std::map<Place, bool> lines;  // whether each ran
};

Record& record() {
  static Record one;
  return one;
}

void write_record() {
  std::ofstream file(record().path);
  for (const auto& [place, ran] : record().lines) file << place.first << ':' << place.second << ' ' << ran << '\n';
}

/// All lines of the function, as not run, but for its `end`, where nothing runs in a function that returns.
void enter(lua_State* L, lua_Debug* frame) {
  lua_getinfo(L, "L", frame);
  for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
    const auto line = static_cast<int>(lua_tointeger(L, -2));
    if (line == frame->linedefined || line != frame->lastlinedefined)
      record().lines.try_emplace({frame->source, line}, false);
  }
  lua_pop(L, 1);
}

void record_line(lua_State* L, lua_Debug* frame) {
  lua_getinfo(L, "S", frame);
  if (std::strcmp(frame->what, "main") == 0 || lua_checkstack(L, 4) == 0) return;
  if (record().functions.emplace(frame->source, frame->linedefined).second) enter(L, frame);
  record().lines[{frame->source, frame->currentline}] = true;
}

}  // namespace

void count_lines(lua_State* L) { lua_sethook(L, &count_line, LUA_MASKLINE, 0); }

void record_lines(lua_State* L, const std::string& path) {
  record().path = path;
  std::atexit(&write_record);
  lua_sethook(L, &record_line, LUA_MASKLINE, 0);
}

}  // namespace mr::fuzz
