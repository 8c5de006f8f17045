// Tests of safetensors files: the whole header is checked, and a file is only replaced if the same program wrote it.
#include "runtime/io/formats/safetensors.h"

#include <map>

#include <nlohmann/json.hpp>

#include "tests/support/command.h"
#include "tests/support/data_files.h"
#include "tests/support/says.h"

using Catch::Contains;
using mr::read_safetensors;
using mr::TensorFile;
using mr::test::Files;
using mr::test::read_text;
using mr::test::says;

namespace {

std::string with_header(const std::string& header, const std::string& data) {
  const uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + header + data;
}

std::string entry(const std::string& name, const std::string& offsets, const std::string& shape = "[1]") {
  return "\"" + name + R"(":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

TensorFile file_of(const char* format, std::vector<float> values) {
  return {{"x"}, {mr::Tensor::from(values)}, {{mr::format_key, format}}};
}

}  // namespace

TEST_CASE("read_safetensors refuses tensors that overlap or leave gaps") {
  const Files files;
  const std::string data(12, '\0');
  const auto refused = [&](const std::string& entries, const auto&... words) {
    CAPTURE(entries);
    const std::string path = files.file("a", with_header("{" + entries + "}", data));
    CHECK_THROWS_WITH(read_safetensors(path), says(path + ": ", words...));
  };
  const std::string third = "," + entry("c", "[8,12]");
  CHECK(read_safetensors(
            files.file("a", with_header("{" + entry("b", "[4,8]") + "," + entry("a", "[0,4]") + third + "}", data)))
            .names == std::vector<std::string>{"a", "b", "c"});
  refused(entry("a", "[0,4]") + "," + entry("b", "[0,4]") + third, "byte 0", "expected 4");
  refused(entry("a", "[0,8]", "[2]") + "," + entry("b", "[4,8]") + third, "'b'", "byte 4", "expected 8");
  refused(entry("a", "[0,4]") + third, "'c'", "byte 8", "expected 4");
  refused(entry("b", "[4,8]") + third, "'b'", "byte 4", "expected 0");
  refused(entry("a", "[0,4]"), " 8 bytes");
  refused("", " 12 bytes");
  refused(entry("a", "[0,12]", "[3]") + "," + entry("a", "[0,12]", "[3]"), "'a'", "twice");
}

TEST_CASE("read_safetensors names the file and the tensor of a number that int64 does not hold") {
  const Files files;
  const std::string header = R"({"a":{"dtype":"U64","shape":[1],"data_offsets":[0,8]}})";
  const std::string path = files.file("a", with_header(header, std::string(8, '\xff')));
  CHECK_THROWS_WITH(read_safetensors(path), says(path, "'a'", "18446744073709551615"));
}

TEST_CASE("read_safetensors refuses header numbers that are not valid 64-bit integers") {
  const Files files;
  const auto refused = [&](const std::string& offsets, const std::string& shape, const auto&... words) {
    CAPTURE(offsets, shape);
    const std::string path = files.file("a", with_header("{" + entry("a", offsets, shape) + "}", "1234"));
    CHECK_THROWS_WITH(read_safetensors(path), says(path + ": ", words...));
  };
  const std::map<std::string, std::string> found{{"1e300", "1e+300"},
                                                 {"0.5", "0.5"},
                                                 {"18446744073709551615", "18446744073709551615"},
                                                 {"9223372036854775808", "9223372036854775808"},
                                                 {"\"0\"", "a string"},
                                                 {"null", "null"},
                                                 {"[]", "an array of 0"}};
  for (const auto& [number, shown] : found) {
    refused("[" + number + ",4]", "[1]", "'a'", shown, "offset", "64 bits");
    refused("[0," + number + "]", "[1]", "'a'", shown, "offset", "64 bits");
    refused("[0,4]", "[" + number + "]", "'a'", shown, "size", "64 bits");
  }
  refused("[0,4]", "[-1]", "'a'", "-1");
  refused("[0,4]", "[1,1,1,1,1,1,1]", "'a'", "6 dimensions");
  refused("[0,4]", "[4611686018427387904,4]", "'a'", "{4611686018427387904, 4}");
}

TEST_CASE("read_safetensors names missing and wrongly typed header members and what it expected") {
  const Files files;
  const auto refused = [&](const std::string& header, const auto&... words) {
    CAPTURE(header);
    const std::string path = files.file("a", with_header(header, "1234"));
    CHECK_THROWS_WITH(read_safetensors(path), says(path + ": ", words...));
  };
  const std::map<std::string, std::string> members{{"dtype", R"("F32")"}, {"shape", "[1]"}, {"data_offsets", "[0,4]"}};
  const std::map<std::string, std::string> expected{
      {"dtype", "type"}, {"shape", "array of sizes"}, {"data_offsets", "array of 2"}};
  const auto header = [&](const std::string& changed, const std::string& value) {
    std::string text;
    for (const auto& [key, usual] : members) {
      const std::string& taken = key == changed ? value : usual;
      if (!taken.empty()) text += (text.empty() ? "\"" : ",\"") + key + "\":" + taken;
    }
    return R"({"a":{)" + text + "}}";
  };
  CHECK(read_safetensors(files.file("a", with_header(header("", ""), "1234"))).names == std::vector<std::string>{"a"});
  for (const auto& [key, what] : expected) {
    const std::string name = "'" + key + "'";
    refused(header(key, ""), "'a'", name, what);
    refused(header(key, "null"), "'a'", "null", name, what);
    refused(header(key, "7"), "'a'", "number", name, what);
    refused(header(key, "true"), "'a'", "boolean", name, what);
    refused(header(key, R"({"b":1})"), "'a'", "object", name, what);
  }
  refused(header("dtype", "[]"), "'a'", "array of 0", "'dtype'");
  refused(header("dtype", R"("F8_E4M3")"), "'a'", "'F8_E4M3'");
  refused(header("shape", R"("4")"), "'a'", "string", "'shape'");
  for (const std::string n : {"[]", "[0]", "[0,4,4]"}) {
    const std::string count = std::to_string(nlohmann::json::parse(n).size());
    refused(header("data_offsets", n), "'a'", "array of " + count, "'data_offsets'", "array of 2");
  }
  for (const auto& [value, shown] : std::map<std::string, std::string>{{"[]", "an array of 0"}, {"1", "a number"}})
    refused(R"({"a":)" + value + "}", "'a'", shown, "object");
  for (const auto& [value, shown] : std::map<std::string, std::string>{{"[]", "an array of 0"}, {"null", "null"}}) {
    refused(value, "safetensors", shown, "object");
    refused(R"({"__metadata__":)" + value + "}", "'__metadata__'", shown, "object of strings");
    refused(R"({"__metadata__":{"b":)" + value + "}}", "'b'", "'__metadata__'", shown, "string");
  }
}

TEST_CASE("write_safetensors refuses names and metadata that are not UTF-8 and writes no file") {
  const Files files;
  const std::string path = files.folder() + "/a";
  const auto refused = [&](const std::string& name, const std::string& key, const std::string& value) {
    const TensorFile file{
        {name}, {mr::Tensor::from(std::vector<float>{1})}, {{mr::format_key, "made up 1"}, {key, value}}};
    CHECK_THROWS_WITH(mr::write_safetensors(path, file), says("'\xff'", "UTF-8"));
    CHECK(!std::filesystem::exists(path));
  };
  refused("\xff", "key", "value");
  refused("name", "\xff", "value");
  refused("name", "key", "\xff");
}

TEST_CASE("read_safetensors refuses a header that is nested too deeply") {
  const Files files;
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  for (const std::string& header : {"{" + entry("a", "[0,4]", deep) + "}", "{" + entry("a", deep) + "}",
                                    R"({"__metadata__":)" + deep + "}", deep}) {
    CHECK_THROWS_WITH(read_safetensors(files.file("a", with_header(header, "1234"))), says("safetensors", "64 levels"));
  }
  CHECK_THROWS_WITH(read_safetensors(files.file("a", with_header("[]", ""))), Contains("object"));
}

TEST_CASE("write_safetensors replaces only files of its own format, of any version and if truncated") {
  const Files files;
  const std::string path = files.folder() + "/a";
  write_safetensors(path, file_of("moonrank model 1", {1, 2}));
  write_safetensors(path, file_of("moonrank model 2", {3}));
  CHECK(read_safetensors(path).tensors[0].to_vector<float>() == std::vector<float>{3});
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 2);
  write_safetensors(path, file_of("moonrank model 1", {4}));
  const std::string model = read_text(path);
  const auto refused = [&](const std::string& found) {
    const std::string before = read_text(path);
    CHECK_THROWS_WITH(write_safetensors(path, file_of("moonrank tables 2", {5})),
                      says(path + ": ", "'moonrank tables'", found));
    CHECK(read_text(path) == before);
  };
  refused("'moonrank model 1'");
  files.file("a", "a thesis");
  refused("");
  files.file("a", with_header("{" + entry("x", "[0,4]") + "}", "1234"));  // tensors that another program wrote
  refused("");
  files.file("a", with_header(R"({"__metadata__":{"format":"pt"}})", ""));
  refused("'pt'");
  files.file("a", with_header(std::string(100'000, '['), ""));
  refused("");
  files.file("a", "");
  write_safetensors(path, file_of("moonrank model 1", {4}));
  CHECK(read_text(path) == model);
}

TEST_CASE("read_safetensors detects any changed bit and any truncation") {
  const Files files;
  const std::string path = files.file("a", "");
  std::filesystem::remove(path);
  const auto numbers = [](int64_t n) { return std::vector<float>(static_cast<size_t>(n), 0.5F); };
  const TensorFile file{
      {"b", "empty", "a"},
      {mr::Tensor::from(numbers(5)), mr::Tensor::from(numbers(0)), mr::Tensor::from(numbers(3))},
      {{mr::format_key, "moonrank model 1"}, {"a key", "a \"checksum xxh64\":\"0123456789abcdef\" value"}}};
  write_safetensors(path, file);
  const TensorFile back = read_safetensors(path);
  CHECK(back.metadata == file.metadata);
  CHECK(back.tensors[1].to_vector<float>() == numbers(5));
  const std::string whole = read_text(path);
  for (size_t at = 0; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      CAPTURE(at, bit);
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      files.file("a", damaged);
      CHECK_THROWS_WITH(read_safetensors(path), Contains(path + ": "));
    }
  }
  for (size_t length = 0; length < whole.size(); ++length) {
    files.file("a", whole.substr(0, length));
    CHECK_THROWS_WITH(read_safetensors(path), Contains(path + ": "));
  }
}

TEST_CASE("read_safetensors reads files without a checksum") {
  const Files files;
  const std::string header = R"({"__metadata__":{"format":"moonrank model 1"},)" + entry("x", "[0,4]") + "}";
  const TensorFile file = read_safetensors(files.file("a", with_header(header, std::string(4, '\0'))));
  CHECK(file.tensors[0].to_vector<float>() == std::vector<float>{0});
  CHECK(file.metadata.size() == 1);
}
