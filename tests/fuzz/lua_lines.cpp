#include "tests/fuzz/lua_lines.h"

#include <cstdint>

namespace mr::fuzz {
namespace {

__attribute__((section("__libfuzzer_extra_counters"))) uint8_t counters[1 << 14];

/// Returns a hash of the name of a Lua source file. The last name and its hash are cached, because consecutive lines
/// mostly come from the same file.
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
  constexpr size_t apart = 7919;  // distance between the counters of consecutive lines of a Lua source file
  const size_t place = place_of(frame->source) + apart * static_cast<size_t>(frame->currentline);
  uint8_t& counter = counters[place % sizeof counters];
  if (counter < UINT8_MAX) ++counter;
}

}  // namespace

void count_lines(lua_State* L) { lua_sethook(L, &count_line, LUA_MASKLINE, 0); }

}  // namespace mr::fuzz
