// Tests of parsing untrusted JSON: its nesting is limited, and errors do not print its content.
#include "runtime/io/formats/json.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using mr::io::parse_json;

namespace {

std::string nested(size_t levels, const std::string& open, const std::string& shut, const std::string& inside) {
  std::string text;
  for (size_t i = 0; i < levels; ++i) text += open;
  text += inside;
  for (size_t i = 0; i < levels; ++i) text += shut;
  return text;
}

}  // namespace

TEST_CASE("parse_json reads nesting up to 64 levels and refuses deeper nesting") {
  const auto deep = Catch::Contains("64 levels");
  CHECK(parse_json(nested(64, "[", "]", "1")).is_array());
  CHECK_THROWS_WITH(parse_json(nested(65, "[", "]", "1")), deep);
  CHECK_THROWS_WITH(parse_json(nested(1'000'000, "[", "]", "")), deep);
  CHECK_THROWS_WITH(parse_json(nested(500'000, "{\"a\":[", "]}", "1")), deep);
  CHECK_THROWS_WITH(parse_json(nested(1'000'000, "[", "", "")), deep);
  // many arrays side by side are allowed: only nesting counts as depth
  CHECK(parse_json("[" + nested(10'000, "[],", "", "0") + "]").size() == 10'001);
}

TEST_CASE("parse_json ignores brackets within strings") {
  const std::string brackets(1000, '[');
  CHECK(parse_json("[\"" + brackets + "\"]").at(0).get<std::string>() == brackets);
  CHECK(parse_json(R"(["\"[", "\\", "\"]"])").at(2).get<std::string>() == "\"]");
  CHECK_THROWS_WITH(parse_json(R"(["\\")" + nested(100, ",[", "]", "1")), Catch::Contains("64 levels"));
}

TEST_CASE("parse_json refuses a name that an object has twice, but not in different objects") {
  CHECK(parse_json(R"({"a":{"a":1,"b":{"a":2}},"b":[{"a":1},{"a":2}]})").size() == 2);
  for (const char* const text : {R"({"a":1,"a":1})", R"([{"b":{"a":1,"c":{},"\u0061":2}}])"})
    CHECK_THROWS_WITH(parse_json(text), Catch::Contains("'a'") && Catch::Contains("twice"));
}

TEST_CASE("parse_json names the byte at which invalid JSON begins") {
  CHECK_THROWS_WITH(parse_json(""), Catch::Contains("byte 1 "));
  CHECK_THROWS_WITH(parse_json("[1, \x1b[31m]"), Catch::Contains("byte 5 "));
  CHECK_THROWS_WITH(parse_json("\"\xff\""), Catch::Contains("byte 2 "));
  CHECK_THROWS_WITH(parse_json("1e999"), Catch::Contains("float64"));
}
