#include "runtime/io/letor.h"

#include <algorithm>
#include <unordered_map>

#include "runtime/io/text_file.h"

namespace mr {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// "docid = X ..." gives X; any other comment is the document's name as it is.
std::string document_of(std::string_view comment) {
  comment = trimmed(comment);
  if (comment.substr(0, 5) != "docid") return std::string(comment);
  std::string_view rest = trimmed(comment.substr(5));
  if (rest.empty() || rest.front() != '=') return std::string(comment);
  rest = trimmed(rest.substr(1));
  return std::string(rest.substr(0, rest.find_first_of(" \t")));
}

constexpr int64_t largest_feature = 1'000'000;

class Parser {
 public:
  Parser(const std::string& path, const LetorOptions& options)
      : path_(path),
        options_(options),
        limit_(options.features > 0 ? std::min(options.features, largest_feature) : largest_feature),
        text_(read_text_file(path)) {}

  LetorFile parse() {
    size_t at = 0;
    while (at < text_.size()) {
      const size_t end = std::min(text_.find('\n', at), text_.size());
      ++line_;
      row(std::string_view(text_).substr(at, end - at));
      at = end + 1;
    }
    if (out_.labels.empty())
      throw ParseError(path_, line_ + 1, 1, "found no rows, expected lines of 'label qid:id 1:value ...'");
    if (!named_) out_.documents.clear();
    return dense();
  }

 private:
  struct Entry {
    int32_t feature;
    float value;
  };

  [[noreturn]] void fail(size_t column, const std::string& text) const {
    throw ParseError(path_, line_, static_cast<int64_t>(column) + 1, text);
  }

  void row(std::string_view line) {
    const size_t hash = line.find('#');
    const std::string_view comment = hash == std::string_view::npos ? std::string_view() : line.substr(hash + 1);
    line_text_ = line.substr(0, hash);
    at_ = 0;
    std::string_view word = next_word();
    if (word.empty()) return;
    const float label = parse_number(word, path_, line_, static_cast<int64_t>(word_at_) + 1, "the label");
    if (label < 0) fail(word_at_, "found the label " + quoted(word) + ", expected a relevance of 0 or more");
    word = next_word();
    const bool named = word.substr(0, 4) == "qid:";
    list(named ? word.substr(4) : std::string_view(), named);
    if (named) next_word();
    out_.labels.push_back(label);
    int64_t previous = 0;
    if (!plain_features(previous)) {
      for (word = next_word(); !word.empty(); word = next_word()) previous = feature(word, previous);
    }
    starts_.push_back(entries_.size());
    out_.documents.push_back(document_of(comment));
    named_ = named_ || !out_.documents.back().empty();
  }

  std::string_view next_word() {
    while (at_ < line_text_.size() && is_blank(line_text_[at_])) ++at_;
    word_at_ = at_;
    while (at_ < line_text_.size() && !is_blank(line_text_[at_])) ++at_;
    return line_text_.substr(word_at_, at_ - word_at_);
  }

  void list(std::string_view qid, bool given) {
    if (!given && !options_.qid_optional) {
      fail(word_at_, "found " +
                         (line_text_.size() > word_at_ ? quoted(line_text_.substr(word_at_, at_ - word_at_))
                                                       : "the end of the line") +
                         ", expected 'qid:' (qid = \"optional\" reads files without as one list)");
    }
    if (given && qid.empty()) fail(word_at_, "found 'qid:' without an id, expected one");
    if (!out_.qids.empty() && out_.qids.back() == qid) {
      ++out_.sizes.back();
      return;
    }
    const auto [before, is_new] = first_line_.try_emplace(std::string(qid), line_);
    if (!is_new) {
      fail(word_at_, "found qid " + quoted(qid) + " again after other queries (it began at line " +
                         std::to_string(before->second) + "), expected the rows of a query together");
    }
    out_.qids.emplace_back(qid);
    out_.sizes.push_back(1);
  }

  /// The features of a line that has nothing to complain about, up to where it has; true where that is its end.
  bool plain_features(int64_t& previous) {
    const char *at = line_text_.data() + word_at_, *const end = line_text_.data() + line_text_.size();
    for (;;) {
      while (at != end && is_blank(*at)) ++at;
      word_at_ = at_ = static_cast<size_t>(at - line_text_.data());
      if (at == end) return true;
      int64_t id = 0;
      for (; at != end && *at >= '0' && *at <= '9' && id <= largest_feature; ++at) id = 10 * id + (*at - '0');
      if (id <= previous || id > limit_ || at == end || *at != ':') return false;
      float value = 0;
      if (!read_number(at + 1, end, value, at) || (at != end && !is_blank(*at))) return false;
      keep(id, value);
      previous = id;
    }
  }

  void keep(int64_t id, float value) {
    entries_.push_back({static_cast<int32_t>(id), value});
    if (id > out_.width) {
      out_.width = id;
      widest_line_ = line_;
    }
  }

  int64_t feature(std::string_view word, int64_t previous) {
    const size_t colon = word.find(':');
    if (colon == std::string_view::npos)
      fail(word_at_, "found " + quoted(word) + ", expected 'feature:value' with a colon");
    int64_t id = 0;
    for (const char c : word.substr(0, colon)) {
      if (c < '0' || c > '9' || id > largest_feature)
        fail(word_at_, "found " + quoted(word) + ", expected a feature id from 1 to 1000000 before the colon");
      id = 10 * id + (c - '0');
    }
    if (id < 1 || id > largest_feature)
      fail(word_at_, "found feature id " + quoted(word.substr(0, colon)) + ", expected 1 to 1000000");
    if (id <= previous && !options_.any_order) {
      fail(word_at_, "found feature " + std::to_string(id) + " after feature " + std::to_string(previous) +
                         ", expected ascending ids (order = \"any\" reads them in any order)");
    }
    if (options_.features > 0 && id > options_.features) {
      fail(word_at_, "found feature " + std::to_string(id) + ", expected at most " + std::to_string(options_.features));
    }
    const std::string_view number = word.substr(colon + 1);
    if (number == "NULL" && !options_.null_is_zero)
      fail(word_at_ + colon + 1, "found 'NULL', expected a number (null = 0 reads it as 0)");
    keep(id, number == "NULL" ? 0.0F
                              : parse_number(number, path_, line_, static_cast<int64_t>(word_at_ + colon) + 2,
                                             "feature " + std::to_string(id)));
    return id;
  }

  LetorFile dense() {
    if (options_.features > 0) out_.width = options_.features;
    const auto rows = static_cast<int64_t>(out_.labels.size());
    if (out_.width > 0 && rows > largest_text / out_.width / static_cast<int64_t>(sizeof(float))) {
      throw std::runtime_error(path_ + ": " + std::to_string(rows) + " rows of " + std::to_string(out_.width) +
                               " features (the last is named at line " + std::to_string(widest_line_) +
                               ") need more than the limit of " + std::to_string(largest_text) + " bytes");
    }
    out_.features.assign(out_.labels.size() * static_cast<size_t>(out_.width), 0.0F);
    size_t entry = 0;
    for (size_t r = 0; r < out_.labels.size(); ++r) {
      for (; entry < starts_[r]; ++entry)
        out_.features[r * out_.width + entries_[entry].feature - 1] = entries_[entry].value;
    }
    return std::move(out_);
  }

  const std::string& path_;
  const LetorOptions& options_;
  const int64_t limit_;
  std::string text_;
  LetorFile out_;
  std::vector<Entry> entries_;
  std::vector<size_t> starts_;  // entries up to and with each row
  std::unordered_map<std::string, int64_t> first_line_;
  std::string_view line_text_;
  size_t at_ = 0, word_at_ = 0;
  int64_t line_ = 0, widest_line_ = 0;
  bool named_ = false;
};

}  // namespace

LetorFile read_letor(const std::string& path, const LetorOptions& options) { return Parser(path, options).parse(); }

}  // namespace mr
