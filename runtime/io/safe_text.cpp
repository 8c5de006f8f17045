#include "runtime/io/safe_text.h"

#include <cstdint>
#include <cstdio>

namespace mr::io {
namespace {

struct Character {
  uint32_t code;
  size_t bytes;  // length of the character in bytes, or 0 if it is not valid UTF-8
};

Character first_character(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(text[i])); };
  const uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || bytes > text.size()) return {lead, 0};
  uint32_t code = lead & (0x7fU >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return {lead, 0};
    code = code << 6U | (byte(i) & 0x3fU);
  }
  constexpr uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < least[bytes] || surrogate || code > 0x10ffff) return {lead, 0};
  return {code, bytes};
}

/// True for a control character, which a terminal would execute instead of showing it.
bool is_command(uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

bool is_break(uint32_t code) { return code == '\n' || code == '\t'; }

std::string written(uint32_t code) {
  if (code == '\n') return "\\n";
  if (code == '\t') return "\\t";
  if (code == '\r') return "\\r";
  char text[16];
  std::snprintf(text, sizeof text, code < 0x100 ? "\\x%02x" : "\\u{%x}", static_cast<unsigned>(code));
  return text;
}

}  // namespace

std::string safe_text(std::string_view text, Breaks breaks) {
  std::string safe;
  safe.reserve(text.size());
  while (!text.empty()) {
    const Character next = first_character(text);
    const bool shown = next.bytes > 0 && (!is_command(next.code) || (breaks == Breaks::kept && is_break(next.code)));
    const size_t used = next.bytes > 0 ? next.bytes : 1;
    if (shown) {
      safe += text.substr(0, used);
    } else {
      safe += written(next.code);
    }
    text.remove_prefix(used);
  }
  return safe;
}

}  // namespace mr::io
