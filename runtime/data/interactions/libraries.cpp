#include <algorithm>
#include <charconv>
#include <functional>
#include <unordered_set>

#include "kernels/core/patient.h"
#include "runtime/data/interactions/ratings.h"
#include "runtime/io/files/text_file.h"

namespace mr {
namespace {

class Words {
 public:
  explicit Words(std::string_view line) : line_(line) {}

  std::string_view next() {
    begin_ = std::min(line_.find_first_not_of(blanks, end_), line_.size());
    end_ = std::min(line_.find_first_of(blanks, begin_), line_.size());
    return line_.substr(begin_, end_ - begin_);
  }

  /// Returns the column of the line where the current word begins, counted from 1.
  int64_t column() const { return static_cast<int64_t>(begin_) + 1; }

 private:
  static constexpr const char* blanks = " \t\r";

  std::string_view line_;
  size_t begin_ = 0, end_ = 0;
};

/// Reads one line after another of a file with the items of one user per line. Items keep the numbers of the file.
class LibraryReader {
 public:
  LibraryReader(const std::string& path, Ratings& out) : path_(path), out_(out) {}

  void read(std::string_view line) {
    const int64_t user = ++line_;
    if ((user & 0xFFFF) == 0) cpu::check_interrupt();
    Words words(line);
    const int64_t count = whole_number(words, words.next(), "the count of items");
    std::unordered_set<int64_t> own;
    for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
      const int64_t item = whole_number(words, word, "an item");
      if ((out_.item.size() & 0xFFFF) == 0) cpu::check_interrupt();
      if (!own.insert(item).second)
        fail(words, "found item " + quoted(word) + " a second time, expected each item once per user");
      out_.user.push_back(user);
      out_.item.push_back(item);
    }
    if (const auto found = static_cast<int64_t>(own.size()); found != count) {
      throw ParseError(path_, line_, 1,
                       "found " + std::to_string(found) + " items, expected " + std::to_string(count) +
                           ", the count at the start of the line");
    }
    out_.user_ids.push_back(std::to_string(user - 1));
  }

 private:
  [[noreturn]] void fail(const Words& at, const std::string& text) const {
    throw ParseError(path_, line_, at.column(), text);
  }

  int64_t whole_number(const Words& at, std::string_view word, const char* what) const {
    int64_t value = -1;
    const char* const end = word.data() + word.size();
    const auto parsed = std::from_chars(word.data(), end, value);
    if (parsed.ec != std::errc() || parsed.ptr != end || value < 0) {
      fail(at, "found " + quoted(word) + ", expected a whole number of at least 0 for " + what);
    }
    return value;
  }

  const std::string& path_;
  Ratings& out_;
  int64_t line_ = 0;
};

/// Renumbers items to 1, 2, ... in ascending order of the file's numbers.
void number_items(Ratings& out) {
  std::vector<int64_t> known = out.item;
  std::sort(known.begin(), known.end(), cpu::patient(std::less<>()));
  known.erase(std::unique(known.begin(), known.end()), known.end());
  cpu::parallel_each(static_cast<int64_t>(out.item.size()), int64_t{1} << 16, [&](int64_t i) {
    out.item[i] = std::lower_bound(known.begin(), known.end(), out.item[i]) - known.begin() + 1;
  });
  for (const int64_t item : known) out.item_ids.push_back(std::to_string(item));
}

}  // namespace

Ratings read_libraries(const std::string& path) {
  const std::string all = read_text_file(path);
  std::string_view text = all;
  Ratings out;
  LibraryReader reader(path, out);
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    reader.read(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (out.item.empty())
    throw ParseError(path, 1, 1, "found no items, expected a line 'count item item ...' for each user");
  out.value.assign(out.item.size(), 1.0F);
  number_items(out);
  return out;
}

}  // namespace mr
