// Compares edit distances with known values and with the definition, and tests which name counts as near.
#include "runtime/io/nearest_name.h"

#include <algorithm>

#include <catch2/catch.hpp>

namespace mr::io {
namespace {

/// Returns the edit distance by its recursive definition, without the table of the fast algorithm.
size_t edits(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return std::max(a.size(), b.size());
  const auto shorter = [](std::string_view text, size_t by) { return text.substr(0, text.size() - by); };
  size_t least = std::min({edits(shorter(a, 1), b) + 1, edits(a, shorter(b, 1)) + 1,
                           edits(shorter(a, 1), shorter(b, 1)) + (a.back() == b.back() ? 0 : 1)});
  const bool swapped = a.size() > 1 && b.size() > 1 && a.back() == b[b.size() - 2] && a[a.size() - 2] == b.back();
  if (swapped) least = std::min(least, edits(shorter(a, 2), shorter(b, 2)) + 1);
  return least;
}

TEST_CASE("edit_distance counts an insertion, deletion, change or swap of letters as one edit") {
  CHECK(edit_distance("minmax", "minmax") == 0);
  CHECK(edit_distance("minmx", "minmax") == 1);
  CHECK(edit_distance("minmaxx", "minmax") == 1);
  CHECK(edit_distance("minmux", "minmax") == 1);
  CHECK(edit_distance("mimnax", "minmax") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
  // 3, not 2: a letter is not edited again after a swap (optimal string alignment)
  CHECK(edit_distance("ca", "abc") == 3);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("abc", "") == 3);
}

TEST_CASE("edit_distance agrees with the recursive definition for all words of up to four letters") {
  std::vector<std::string> words{""};
  for (size_t i = 0; i < words.size() && words[i].size() < 4; ++i) {
    for (const char letter : {'a', 'b', 'c'}) words.push_back(words[i] + letter);
  }
  REQUIRE(words.size() == 121);
  size_t differ = 0;
  for (const auto& a : words) {
    for (const auto& b : words) differ += edit_distance(a, b) == edits(a, b) ? 0 : 1;
  }
  CHECK(differ == 0);
}

TEST_CASE("nearest_name returns the first name with the fewest edits") {
  const std::vector<std::string> known{"none", "minmax", "expectation", "expectation_max"};
  CHECK(nearest_name("expectation_mxa", known) == "expectation_max");
  CHECK(nearest_name("nnoe", known) == "none");
  CHECK(nearest_name("ab", {"abc", "abd"}) == "abc");
  CHECK_FALSE(nearest_name("zzzzzz", known));
  CHECK_FALSE(nearest_name("", known));
  CHECK_FALSE(nearest_name("x", known));
  CHECK_FALSE(nearest_name("a", {}));
  CHECK_FALSE(nearest_name(std::string(1 << 24, 'a'), known));  // at once
}

TEST_CASE("nearest_name ignores capitals, underscores and a trailing 'loss'") {
  CHECK(nearest_name("NDCG", {"dcg", "ndcg"}) == "ndcg");
  CHECK(nearest_name("min_max", {"minmax"}) == "minmax");
  CHECK(nearest_name("xLabel", {"xlabel"}) == "xlabel");
  CHECK(nearest_name("bpr_loss", {"bce", "bpr"}) == "bpr");
  CHECK(nearest_name("BPRLoss", {"bce", "bpr"}) == "bpr");
  CHECK(nearest_name("NRBP", {"nrbp", "nrbp_loss"}) == "nrbp");
  CHECK_FALSE(nearest_name("_", {"-", "bpr"}));
}

TEST_CASE("nearest_name does not take another word for a typing error") {
  CHECK_FALSE(nearest_name("log1p", {"log"}));
  CHECK_FALSE(nearest_name("log2", {"log"}));
  CHECK_FALSE(nearest_name("rand", {"range"}));
  CHECK_FALSE(nearest_name("median", {"mean"}));
  CHECK_FALSE(nearest_name("map", {"max"}));
  CHECK_FALSE(nearest_name("len", {"le"}));
  CHECK_FALSE(nearest_name("any", {"tanh"}));
  CHECK_FALSE(nearest_name("device", {"recipe"}));
  CHECK_FALSE(nearest_name("floor", {"float"}));
  CHECK(nearest_name("smu", {"sum"}) == "sum");
  CHECK(nearest_name("tie", {"ties"}) == "ties");
  CHECK(nearest_name("bnd", {"bias", "bound"}) == "bound");
  CHECK(nearest_name("val", {"valid"}) == "valid");
}

}  // namespace
}  // namespace mr::io
