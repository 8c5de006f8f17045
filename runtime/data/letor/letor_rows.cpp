#include "runtime/data/letor/letor_rows.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <stdexcept>

#include "runtime/data/blanks.h"
#include "runtime/data/plain_number.h"
#include "runtime/io/files/text_file.h"

namespace mr {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Returns the document name in a line's comment: X if the comment is "docid = X ...", else the whole comment.
std::string_view document_of(std::string_view comment) {
  comment = trimmed(comment);
  if (comment.substr(0, 5) != "docid") return comment;
  std::string_view rest = trimmed(comment.substr(5));
  if (rest.empty() || rest.front() != '=') return comment;
  rest = trimmed(rest.substr(1));
  return rest.substr(0, rest.find_first_of(" \t"));
}

constexpr int64_t largest_feature = 1'000'000;

/// The text of a feature's id and its colon, such as "12:", as a number, and a mask of the bytes that it has.
struct IdText {
  uint32_t text = 0, mask = 0;
  uint8_t length = 0;
};

constexpr IdText text_of(int64_t id) {
  IdText out;
  const auto append_before = [&](char c) {
    out.text = out.text << 8 | static_cast<unsigned char>(c);
    out.mask = out.mask << 8 | 0xFF;
    ++out.length;
  };
  append_before(':');
  for (; id > 0; id /= 10) append_before(static_cast<char>('0' + id % 10));
  return out;
}

/// Texts of ids of up to three digits, for little-endian processors. There is none for id 0.
constexpr std::array<IdText, 1000> id_texts = [] {
  std::array<IdText, 1000> texts;
  for (int64_t id = 0; id < 1000; ++id) texts[static_cast<size_t>(id)] = text_of(id);
  return texts;
}();

class Parser {
 public:
  Parser(std::string_view readable, const std::string& path, const LetorOptions& options)
      : path_(path),
        options_(options),
        limit_(options.features > 0 ? std::min(options.features, largest_feature) : largest_feature),
        readable_end_(readable.data() + readable.size()),
        near_end_(readable_end_ - std::min<size_t>(readable.size(), plain_number_reach)) {}

  LetorRows parse(std::string_view piece, int64_t lines_before) {
    line_ = lines_before;
    // A feature takes at least four bytes of text: "1:2" and a separator. So there are at most size / 4 + 1 values.
    out_.values = std::make_unique_for_overwrite<float[]>(piece.size() / 4 + 1);
    next_value_ = out_.values.get();
    if (readable_end_ - (piece.data() + piece.size()) >= Blanks::reach)
      blanks_.emplace(piece.data(), piece.data() + piece.size());
    size_t at = 0;
    while (at < piece.size()) {
      const size_t end = std::min(piece.find('\n', at), piece.size());
      ++line_;
      whole_line_ = piece.substr(at, end - at);
      row(whole_line_);
      at = end + 1;
    }
    out_.lines = line_;
    return std::move(out_);
  }

  /// Returns the rows that `parse` had read before it threw an error, together with the text of the bad line.
  LetorRows before_bad_line() {
    out_.bad = true;
    out_.bad_line = whole_line_;
    out_.lines = line_;
    return std::move(out_);
  }

 private:
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
    if (label < 0) fail(word_at_, "found the label " + quoted(word) + ", expected a grade of 0 or more");
    word = next_word();
    const bool named = word.substr(0, 4) == "qid:";
    query(named ? word.substr(4) : std::string_view(), named);
    if (named) next_word();
    features();
    out_.labels.push_back(label);
    out_.documents.emplace_back(document_of(comment));
    out_.named = out_.named || !out_.documents.back().empty();
  }

  std::string_view next_word() {
    while (at_ < line_text_.size() && is_blank(line_text_[at_])) ++at_;
    word_at_ = at_;
    while (at_ < line_text_.size() && !is_blank(line_text_[at_])) ++at_;
    return line_text_.substr(word_at_, at_ - word_at_);
  }

  void query(std::string_view qid, bool given) {
    if (!given && !options_.qid_optional) {
      fail(word_at_, "found " +
                         (line_text_.size() > word_at_ ? quoted(line_text_.substr(word_at_, at_ - word_at_))
                                                       : "the end of the line") +
                         ", expected 'qid:' (qid = \"optional\" reads a file without qids as one list)");
    }
    if (given && qid.empty()) fail(word_at_, "found 'qid:' without an id, expected 'qid:ID'");
    if (!out_.queries.empty() && out_.queries.back().id == qid) return;
    out_.queries.push_back(
        {std::string(qid), static_cast<int64_t>(out_.labels.size()), line_, static_cast<int64_t>(word_at_) + 1});
  }

  void features() {
    row_ = {};
    int64_t previous = 0;
    if (!plain_features(previous)) {
      for (std::string_view word = next_word(); !word.empty(); word = next_word()) previous = feature(word, previous);
    }
    out_.rows.push_back(row_);
  }

  /// Reads the features of a line as long as they are plain numbers with ascending ids. Returns true if it reaches the
  /// end of the line.
  bool plain_features(int64_t& previous) {
    const char *at = line_text_.data() + word_at_, *const end = line_text_.data() + line_text_.size();
    if (blanks_) at = usual_features(at, end, previous);
    for (;;) {
      while (at != end && is_blank(*at)) ++at;
      word_at_ = at_ = static_cast<size_t>(at - line_text_.data());
      if (at == end) return true;
      int64_t id = 0;
      for (; at != end && *at >= '0' && *at <= '9' && id <= largest_feature; ++at) id = 10 * id + (*at - '0');
      if (id <= previous || id > limit_ || at == end || *at != ':') return false;
      float value = 0;
      at = number(at + 1, end, value);
      if (at == nullptr) return false;
      keep(id, value);
      previous = id;
    }
  }

  /// Reads features as long as each has the id after the previous one, a plain number and one blank. Returns the
  /// position of the first other one, or `end`. The ends of words are known before numbers are parsed, so that the
  /// processor parses several numbers at the same time.
  const char* usual_features(const char* at, const char* end, int64_t& previous) {
    if constexpr (std::endian::native != std::endian::little) return at;
    const int64_t last = std::min<int64_t>(limit_, std::ssize(id_texts) - 1);
    for (blanks_->skip_to(at); at < end && previous < last; ++previous) {
      const IdText& id = id_texts[static_cast<size_t>(previous) + 1];
      const char* const to = blanks_->next();
      uint32_t text = 0;
      std::memcpy(&text, at, sizeof text);
      float value = 0;
      if ((text & id.mask) != id.text || plain_number(at + id.length, value) != to) return at;
      if (to > end || (to < end && !is_blank(*to))) return at;
      keep(previous + 1, value);
      at = to + 1;
    }
    return std::min(at, end);
  }

  /// Parses a finite number that is followed by a blank or by `end`. Returns the position after the number, or nullptr
  /// if it is not such a number.
  const char* number(const char* at, const char* end, float& value) const {
    const char* stop = at < near_end_ ? plain_number(at, value) : nullptr;
    // The fast parser may read beyond `end`, into the comment or the next line. If its number does not end before
    // `end`, it is parsed again by the exact parser.
    if (stop != nullptr && stop < end && is_blank(*stop)) return stop;
    if (!read_number(at, end, value, stop) || (stop != end && !is_blank(*stop))) return nullptr;
    return stop;
  }

  void keep(int64_t id, float value) {
    *next_value_++ = value;
    ++row_.count;
    if (row_.listed || id != row_.count) list(id);
    if (id > out_.width) {
      out_.width = id;
      out_.widest_line = line_;
    }
  }

  void list(int64_t id) {
    if (!row_.listed) {
      for (int64_t before = 1; before < row_.count; ++before) out_.ids.push_back(static_cast<int32_t>(before));
    }
    row_.listed = true;
    out_.ids.push_back(static_cast<int32_t>(id));
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
      fail(word_at_, "found feature " + std::to_string(id) + ", expected at most " + std::to_string(options_.features) +
                         ", the option features");
    }
    const std::string_view number = word.substr(colon + 1);
    if (number == "NULL" && options_.null == Null::refused)
      fail(word_at_ + colon + 1, "found 'NULL', expected a number (null = 0 reads it as 0, \"missing\" as missing)");
    const float null = options_.null == Null::zero ? 0.0F : std::numeric_limits<float>::quiet_NaN();
    keep(id, number == "NULL" ? null
                              : parse_number(number, path_, line_, static_cast<int64_t>(word_at_ + colon) + 2,
                                             "feature " + std::to_string(id)));
    return id;
  }

  const std::string& path_;
  const LetorOptions& options_;
  const int64_t limit_;
  const char* const readable_end_;
  // Before this position, the fast number parser, which reads ahead, stays within the memory.
  const char* const near_end_;
  std::optional<Blanks> blanks_;  // of the piece, if enough of the memory after it is readable
  LetorRows out_;
  LetorRows::Row row_;
  float* next_value_ = nullptr;
  std::string_view whole_line_, line_text_;
  size_t at_ = 0, word_at_ = 0;
  int64_t line_ = 0;
};

}  // namespace

LetorRows letor_rows(std::string_view piece, std::string_view readable, const std::string& path,
                     const LetorOptions& options) {
  Parser parser(readable, path, options);
  try {
    return parser.parse(piece, 0);
  } catch (const ParseError&) {
    return parser.before_bad_line();
  }
}

void bad_letor_line(std::string_view line, int64_t number, const std::string& path, const LetorOptions& options) {
  Parser(line, path, options).parse(line, number - 1);
  throw std::logic_error(path + ": line " + std::to_string(number) +
                         " had an error that is now gone: the file changed while it was read");
}

}  // namespace mr
