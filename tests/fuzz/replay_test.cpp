// Tests every parser of files without a fuzzer: on its seeds, its saved fuzzer inputs (corpus), and random changes of
// both. The changes are the same in each run.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <random>

#include <catch2/catch.hpp>

#include "tests/fuzz/checksums.h"
#include "tests/fuzz/seeds.h"
#include "tests/fuzz/store_targets.h"
#include "tests/fuzz/targets.h"

namespace {

using mr::fuzz::seeds;
using mr::fuzz::targets;

/// Returns how many randomly changed inputs the parser `name` is tested on: fewer for parsers that open a store or
/// train a model, which take milliseconds per input.
size_t changes_of(const std::string& name) {
  constexpr size_t usual = 2000, slow = 100;
  return name == "store_rows" || name == "fit_checkpoint" ? slow : usual;
}

/// Returns an input with one to four random changes: a bit is flipped, a byte becomes one that parsers look for, or a
/// piece is removed, doubled, or copied from another input.
std::string changed(std::string bytes, const std::string& other, std::mt19937& random) {
  using std::string_literals::operator""s;
  static const std::string telling = "\0\n\r\t ,;:\"#-+.0189aeEqQ[]{}\xff\x7f\x80"s;
  const auto below = [&](size_t n) { return n == 0 ? 0 : random() % n; };
  for (size_t k = 1 + below(4); k > 0; --k) {
    const size_t at = below(bytes.size() + 1), length = below(std::min<size_t>(bytes.size() - at, 16) + 1);
    switch (below(5)) {
      case 0:
        if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 1:
        bytes.insert(at, 1, telling[below(telling.size())]);
        break;
      case 2:
        bytes.erase(at, length);
        break;
      case 3:
        bytes.insert(at, bytes.substr(at, length));
        break;
      default:
        bytes.insert(at, other.substr(below(other.size()), 16));
        break;
    }
  }
  return bytes;
}

}  // namespace

TEST_CASE("every parser accepts or refuses its seeds, its corpus and random changes of them") {
  const auto all = seeds();
  // MOONRANK_FUZZ selects one parser, as it does for the fuzzers
  const char* const only = std::getenv("MOONRANK_FUZZ");
  REQUIRE((only == nullptr || targets().count(only) == 1));
  for (const auto& [name, parse] : targets()) {
    if (only != nullptr && name != only) continue;
    INFO(name);
    REQUIRE(all.count(name) == 1);
    std::vector<std::string> inputs = all.at(name);
    const std::vector<std::string> more = mr::fuzz::corpus(name);
    inputs.insert(inputs.end(), more.begin(), more.end());
    const size_t changes = changes_of(name) / inputs.size() + 1;
    std::mt19937 random(1);
    for (const std::string& input : inputs) {
      CAPTURE(input);
      REQUIRE_NOTHROW(parse(input));
      for (size_t k = 0; k < changes; ++k) {
        const std::string other = changed(input, inputs[random() % inputs.size()], random);
        CAPTURE(other);
        REQUIRE_NOTHROW(parse(other));
      }
    }
  }
}

TEST_CASE("with_log_checksums computes the checksums of a store's log like SQLite") {
  const auto all = seeds();
  size_t logs = 0;
  for (const std::string& text : all.at("store")) {
    const mr::fuzz::StoreBytes store = mr::fuzz::StoreBytes::of(text);
    CHECK(store.text() == text);
    CHECK(mr::fuzz::with_log_checksums(store.log) == store.log);
    logs += store.log.empty() ? 0 : 1;
  }
  CHECK(logs == 2);
}

TEST_CASE("every corpus folder belongs to a parser") {
  for (const auto& entry : std::filesystem::directory_iterator(MR_SOURCE_DIR "/tests/fuzz/corpus")) {
    INFO(entry.path());
    CHECK(targets().count(entry.path().filename().string()) == 1);
  }
}
