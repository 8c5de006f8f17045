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

/// A number of a source's name; the same text mostly comes again.
size_t place_of(const char* source) {
  static const char* last = nullptr;
  static size_t found = 0;
  if (source == last) return found;
  last = source;
  found = 0;
  for (; *source != '\0'; ++source) found = 31 * found + static_cast<unsigned char>(*source);
  return found;
}

void count_line(lua_State* L, lua_Debug* frame) {
  lua_getinfo(L, "S", frame);
  constexpr size_t apart = 7919;  // lines of one source
  const size_t place = place_of(frame->source) + apart * static_cast<size_t>(frame->currentline);
  uint8_t& counter = counters[place % sizeof counters];
  if (counter < UINT8_MAX) ++counter;
}

using Place = std::pair<std::string, int>;

struct Line {
  int function;  // where it begins
  bool ran;
};

struct Record {
  std::string path;
  std::set<Place> functions;  // that were entered, by the line where they begin
  std::map<Place, Line> lines;
};

Record& record() {
  static Record one;
  return one;
}

void write_record() {
  std::ofstream file(record().path);
  for (const auto& [place, line] : record().lines)
    file << place.first << ':' << place.second << ' ' << line.ran << ' ' << line.function << '\n';
}

/// All lines of the function, as not run, but for its `end`, where nothing runs in a function that returns.
void enter(lua_State* L, lua_Debug* frame) {
  lua_getinfo(L, "L", frame);
  for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
    const auto line = static_cast<int>(lua_tointeger(L, -2));
    if (line == frame->linedefined || line != frame->lastlinedefined)
      record().lines.try_emplace({frame->source, line}, Line{frame->linedefined, false});
  }
  lua_pop(L, 1);
}

void record_line(lua_State* L, lua_Debug* frame) {
  lua_getinfo(L, "S", frame);
  if (std::strcmp(frame->what, "main") == 0 || lua_checkstack(L, 4) == 0) return;
  if (record().functions.emplace(frame->source, frame->linedefined).second) enter(L, frame);
  const Place place{frame->source, frame->currentline};
  record().lines.try_emplace(place, Line{frame->linedefined, true}).first->second.ran = true;
}

}  // namespace

void count_lines(lua_State* L) { lua_sethook(L, &count_line, LUA_MASKLINE, 0); }

void record_lines(lua_State* L, const std::string& path) {
  record().path = path;
  std::atexit(&write_record);
  lua_sethook(L, &record_line, LUA_MASKLINE, 0);
}

}  // namespace mr::fuzz
