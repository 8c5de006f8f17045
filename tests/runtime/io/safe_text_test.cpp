// Tests of safe_text: which parts of an untrusted text are shown as they are, and which are escaped.
#include "runtime/io/safe_text.h"

#include <catch2/catch.hpp>

namespace mr::io {
namespace {

std::string on_one_line(std::string_view text) { return safe_text(text, Breaks::escaped); }

TEST_CASE("safe_text keeps printable UTF-8 text") {
  for (const char* const text : {"", "plain ~!", "caf\xc3\xa9", "\xe2\x88\x91 \xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"}) {
    CHECK(on_one_line(text) == text);
  }
}

TEST_CASE("safe_text escapes control characters and text direction marks") {
  CHECK(on_one_line("\x1b[2J\x1b]0;title\x07") == "\\x1b[2J\\x1b]0;title\\x07");
  CHECK(on_one_line(std::string_view("a\0b", 3)) == "a\\x00b");
  CHECK(on_one_line("\b\r\n\t\x7f") == "\\x08\\r\\n\\t\\x7f");
  CHECK(safe_text("\r\n\t\x1b", Breaks::kept) == "\\r\n\t\\x1b");
  CHECK(on_one_line("\xc2\x9b"
                    "2J") == "\\x9b2J");  // U+009B is a single control character that terminals treat like escape and [
  CHECK(on_one_line("\xe2\x80\xae"
                    "evil") == "\\u{202e}evil");  // U+202E makes terminals show text from right to left
  CHECK(on_one_line("\xe2\x81\xa6\xe2\x80\xa8") == "\\u{2066}\\u{2028}");
}

TEST_CASE("safe_text escapes bytes that are not valid UTF-8") {
  CHECK(on_one_line("\xff\xfe") == "\\xff\\xfe");
  CHECK(on_one_line("\xc3") == "\\xc3");  // cut short
  CHECK(on_one_line("\xe2\x88") == "\\xe2\\x88");
  CHECK(on_one_line("\xc3(") == "\\xc3(");         // the second byte is not a continuation byte
  CHECK(on_one_line("\xc0\x9b") == "\\xc0\\x9b");  // an overlong encoding
  CHECK(on_one_line("\xe0\x80\x9b") == "\\xe0\\x80\\x9b");
  CHECK(on_one_line("\xf0\x80\x80\x9b") == "\\xf0\\x80\\x80\\x9b");
  CHECK(on_one_line("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // half a pair
  CHECK(on_one_line("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");
}

}  // namespace
}  // namespace mr::io
