#include "runtime/data/blanks.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

TEST_CASE("blanks_of marks blanks among all characters") {
  for (int first = 0; first < 256; first += 64) {
    std::string text;
    for (int c = first; c < first + 64; ++c) text += static_cast<char>(c);
    uint64_t expected = 0;
    for (int i = 0; i < 64; ++i) {
      if (std::string(" \t\n\v\f\r").find(text[i]) != std::string::npos) expected |= uint64_t{1} << i;
      CHECK(mr::is_space(text[i]) == (expected >> i & 1));
    }
    CHECK(mr::blanks_of(text.data()) == expected);
  }
}

TEST_CASE("Blanks returns the positions of all blanks, then the end of the text") {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::string text;
    const auto size = random() % 6000, letters = 2 + random() % 300;
    while (text.size() < size) text += random() % letters == 0 ? " \n\t\r"[random() % 4] : 'x';
    const char* const end = text.data() + size;
    std::vector<const char*> expected;
    for (const char& c : text) {
      if (mr::is_space(c)) expected.push_back(&c);
    }
    if (text.empty() || !mr::is_space(text.back())) expected.push_back(end);
    // exactly as many characters after the text as may be read, so that memory checkers notice more
    std::vector<char> padded(text.begin(), text.end());
    padded.resize(size + mr::Blanks::reach, '\0');
    mr::Blanks blanks(padded.data(), padded.data() + size);
    size_t wrong = 0;
    for (const char* const at : expected) wrong += blanks.next() - padded.data() != at - text.data();
    CHECK(wrong == 0);
    mr::Blanks skipping(padded.data(), padded.data() + size);
    for (size_t at = 0; at < size; at += 1 + random() % 3000) {
      skipping.skip_to(padded.data() + at);
      const auto next = std::find_if(padded.data() + at, padded.data() + size, mr::is_space);
      CHECK(skipping.next() == next);
      at = static_cast<size_t>(next - padded.data());
    }
  }
}
