// A Catch matcher for error messages and other printed texts. It looks for key words only, such as the argument's name
// and the value that was found.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

namespace mr::test {

class Says : public Catch::MatcherBase<std::string> {
 public:
  explicit Says(std::vector<std::string> words) : words_(std::move(words)) {}

  bool match(const std::string& text) const override {
    for (const std::string& word : words_) {
      if (text.find(word) == std::string::npos) return false;
    }
    return true;
  }

  std::string describe() const override { return "has all of " + Catch::Detail::stringify(words_); }

 private:
  std::vector<std::string> words_;
};

/// Matches a text that contains all the words, in any order.
template <class... Words>
Says says(const Words&... words) {
  return Says({words...});
}

}  // namespace mr::test
