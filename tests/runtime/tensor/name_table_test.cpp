#include "runtime/tensor/name_table.h"

#include <map>
#include <random>
#include <span>

#include <catch2/catch.hpp>

using mr::Names;

namespace {

std::string text_of(std::mt19937& random, size_t size, int letters) {
  std::string text;
  while (text.size() < size) text += static_cast<char>(random() % static_cast<unsigned>(letters));
  return text;
}

}  // namespace

TEST_CASE("same_name compares every byte of a name, whatever its length") {
  std::mt19937 random(1);
  for (size_t size = 0; size <= 40; ++size) {
    const std::string name = text_of(random, size, 256);
    CHECK(mr::same_name(name, std::string(name)));
    CHECK_FALSE(mr::same_name(name, name + '\0'));
    for (size_t at = 0; at < size; ++at) {
      std::string other = name;
      other[at] = static_cast<char>(other[at] ^ 1);
      CHECK_FALSE(mr::same_name(name, other));
      CHECK(mr::hash_of(name) != mr::hash_of(other));
    }
  }
}

TEST_CASE("NameTable finds each name and the first repetition") {
  std::mt19937 random(2);
  std::vector<uint64_t> slots;
  // few letters and lengths: names repeat; equal beginnings: names differ after 8 bytes only
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> names(random() % 60);
    for (std::string& name : names) {
      name = std::string(round % 3 == 0 ? 0 : 8, 'x') + text_of(random, random() % 12, round % 2 == 0 ? 2 : 256);
    }
    std::map<std::string, int64_t> known;
    std::optional<mr::RepeatedName> expected;
    for (int64_t i = 0; i < static_cast<int64_t>(names.size()); ++i) {
      const auto [at, is_new] = known.try_emplace(names[i], i);
      if (!is_new && !expected) expected = {i, at->second};
    }
    const Names together(names);
    const mr::NameTable table(mr::NameSpan(together), slots);
    REQUIRE(table.repeated().has_value() == expected.has_value());
    if (expected) {
      CHECK(table.repeated()->again == expected->again);
      CHECK(table.repeated()->before == expected->before);
    }
    for (const auto& [name, position] : known) CHECK(table.find(name) == position);
    CHECK(table.find("not there") == -1);
    const mr::NameTable of_strings(std::span<const std::string>(names), slots);
    CHECK(of_strings.repeated().has_value() == expected.has_value());
  }
}

// Among 300,000 names, about ten pairs have the same upper half of their hash.
TEST_CASE("NameTable tells names with equal hashes apart") {
  Names names;
  for (int i = 0; i < 300000; ++i) names.push_back("document" + std::to_string(i));
  std::vector<uint64_t> slots;
  const mr::NameTable table(mr::NameSpan(names), slots);
  CHECK_FALSE(table.repeated());
  size_t wrong = 0;
  for (size_t i = 0; i < names.size(); ++i) wrong += table.find(names[i]) != static_cast<int64_t>(i);
  CHECK(wrong == 0);
  CHECK(table.find("document300000") == -1);
  names.push_back("document77");
  const auto repeated = mr::first_repeated(names);
  REQUIRE(repeated);
  CHECK(repeated->again == 300000);
  CHECK(repeated->before == 77);
}

TEST_CASE("Names keeps names of any length") {
  std::mt19937 random(3);
  std::vector<std::string> texts;
  Names one_by_one, reserved;
  reserved.reserve(200, 10);
  for (size_t size = 0; size < 200; ++size) {
    texts.push_back(text_of(random, size % 50, 256));
    one_by_one.push_back(texts.back());
    reserved.push_back(texts.back());
  }
  CHECK(one_by_one.to_vector() == texts);
  CHECK(one_by_one == reserved);
  CHECK(one_by_one == Names(texts));
  Names parts = {"first"};
  parts.append({&one_by_one, &reserved});
  parts.append(reserved, 7, 3);
  CHECK(parts.size() == 404);
  CHECK(parts[0] == "first");
  CHECK(parts[1 + 150] == texts[150]);
  CHECK(parts[1 + 200 + 49] == texts[49]);
  CHECK(parts[403] == texts[9]);
  CHECK(parts.bytes() == 5 + 2 * one_by_one.bytes() + 7 + 8 + 9);
  CHECK_FALSE(parts == one_by_one);
}
