#include "runtime/data/trec.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "kernels/core/patient.h"
#include "runtime/data/csv.h"
#include "runtime/io/files/text_file.h"

namespace mr {
namespace {

/// Collects rows in the order of the file and groups them by query at the end.
class DocumentTable {
 public:
  explicit DocumentTable(std::string path) : path_(std::move(path)) {}

  int64_t query(std::string_view id) {
    if (last_ >= 0 && out_.ids[static_cast<size_t>(last_)] == id) return last_;
    const auto [at, is_new] = numbers_.try_emplace(std::string(id), static_cast<int64_t>(out_.ids.size()));
    if (is_new) out_.ids.emplace_back(id);
    return last_ = at->second;
  }

  void add(std::string_view query_id, std::string_view document, float value, int64_t line) {
    queries_.push_back(query(query_id));
    documents_.emplace_back(document);
    values_.push_back(value);
    lines_.push_back(line);
  }

  DocumentRows rows() {
    if (out_.ids.empty()) throw ParseError(path_, 1, 1, "found no rows, expected documents of queries");
    out_.sizes.assign(out_.ids.size(), 0);
    for (const int64_t q : queries_) ++out_.sizes[static_cast<size_t>(q)];
    std::vector<size_t> order(queries_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const auto less = [&](size_t a, size_t b) { return queries_[a] < queries_[b]; };
    std::stable_sort(order.begin(), order.end(), cpu::patient(less));
    const size_t* at = order.data();
    for (const int64_t size : out_.sizes) {
      check_once({at, static_cast<size_t>(size)});
      at += size;
    }
    for (const size_t row : order) {
      out_.documents.push_back(std::move(documents_[row]));
      out_.values.push_back(values_[row]);
    }
    return std::move(out_);
  }

 private:
  struct Rows {
    const size_t* first;
    size_t count;
  };

  /// Throws if a document occurs twice in a query.
  void check_once(Rows rows) const {
    cpu::check_interrupt();
    std::vector<size_t> sorted(rows.first, rows.first + rows.count);
    const auto less = [&](size_t a, size_t b) {
      const int order = documents_[a].compare(documents_[b]);
      return order != 0 ? order < 0 : a < b;
    };
    std::sort(sorted.begin(), sorted.end(), cpu::patient(less));
    std::optional<size_t> again;
    size_t before = 0;
    for (size_t i = 1; i < sorted.size(); ++i) {
      if (documents_[sorted[i]] != documents_[sorted[i - 1]] || (again && *again < sorted[i])) continue;
      again = sorted[i];
      before = sorted[i - 1];
    }
    if (!again) return;
    throw ParseError(path_, lines_[*again], 1,
                     "found document " + mr::quoted(documents_[*again]) + " of query " +
                         mr::quoted(out_.ids[static_cast<size_t>(queries_[*again])]) +
                         " a second time (first at line " + std::to_string(lines_[before]) +
                         "), expected each document once");
  }

  std::string path_;
  DocumentRows out_;
  std::unordered_map<std::string, int64_t> numbers_;
  int64_t last_ = -1;
  std::vector<int64_t> queries_, lines_;
  std::vector<std::string> documents_;
  std::vector<float> values_;
};

/// Splits a line at blanks and tabs into at most `Most` words; `count` is `Most` + 1 if there are more.
template <size_t Most>
struct Words {
  std::array<std::string_view, Most> words;
  std::array<int64_t, Most> columns;
  size_t count = 0;

  explicit Words(std::string_view line) {
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; };
    for (size_t at = 0; at < line.size();) {
      if (blank(line[at])) {
        ++at;
        continue;
      }
      const size_t from = at;
      while (at < line.size() && !blank(line[at])) ++at;
      if (count == Most) {
        ++count;
        return;
      }
      words[count] = line.substr(from, at - from);
      columns[count++] = static_cast<int64_t>(from) + 1;
    }
  }
};

/// Calls f(words, line number) for every line that is not blank.
template <size_t Expected, class F>
void each_line(const std::string& path, const char* fields, F f) {
  const std::string text = read_text_file(path);
  int64_t number = 0;
  for (size_t at = 0; at < text.size();) {
    if ((++number & 0xFFF) == 0) cpu::check_interrupt();
    const size_t end = std::min(text.find('\n', at), text.size());
    const Words<Expected> line(std::string_view(text).substr(at, end - at));
    at = end + 1;
    if (line.count == 0) continue;
    if (line.count != Expected) {
      throw ParseError(
          path, number, 1,
          "found " + (line.count > Expected ? "more than " + std::to_string(Expected) : std::to_string(line.count)) +
              " fields, expected " + std::to_string(Expected) + ": " + fields);
    }
    f(line, number);
  }
}

constexpr std::string_view blanks = " \t\r\n\f\v", escape_mark = "%%", hex_digits = "0123456789ABCDEF";

int64_t grade_of(std::string_view word, const std::string& path, int64_t line, int64_t column) {
  constexpr int64_t largest = int64_t{1} << 24;  // float32 represents all integers up to 2^24 exactly
  int64_t grade = 0;
  const char* const end = word.data() + word.size();
  const auto parsed = std::from_chars(word.data(), end, grade);
  if (parsed.ec != std::errc() || parsed.ptr != end || grade > largest) {
    throw ParseError(path, line, column, "found " + mr::quoted(word) + ", expected a whole number for the grade");
  }
  return grade;
}

/// Decodes an escaped name after its mark. Returns nothing if a "%" is not followed by two hexadecimal digits.
std::optional<std::string> decoded(std::string_view text) {
  std::string name;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      name += text[at];
      continue;
    }
    if (at + 2 >= text.size()) return std::nullopt;
    const size_t high = hex_digits.find(text[at + 1]), low = hex_digits.find(text[at + 2]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    name += static_cast<char>(16 * high + low);
    at += 2;
  }
  return name;
}

}  // namespace

bool needs_escape(std::string_view name) {
  return name.find_first_of(blanks) != std::string_view::npos || name.substr(0, 2) == escape_mark;
}

std::string escaped_word(std::string_view name) {
  std::string word(escape_mark);
  for (const char c : name) {
    if (c != '%' && blanks.find(c) == std::string_view::npos) {
      word += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      word += {'%', hex_digits[byte / 16], hex_digits[byte % 16]};
    }
  }
  return word;
}

std::string unescaped_word(std::string_view word) {
  if (word.substr(0, 2) == escape_mark) {
    const std::optional<std::string> name = decoded(word.substr(2));
    if (name && needs_escape(*name) && escaped_word(*name) == word) return *name;
  }
  return std::string(word);
}

DocumentRows read_trec_run(const std::string& path) {
  DocumentTable table(path);
  each_line<6>(path, "query Q0 document rank score tag", [&](const Words<6>& line, int64_t number) {
    const float score = parse_number(line.words[4], path, number, line.columns[4], "the score");
    table.add(unescaped_word(line.words[0]), unescaped_word(line.words[2]), score, number);
  });
  return table.rows();
}

DocumentRows read_trec_qrels(const std::string& path) {
  DocumentTable table(path);
  each_line<4>(path, "query iteration document grade", [&](const Words<4>& line, int64_t number) {
    const int64_t grade = grade_of(line.words[3], path, number, line.columns[3]);
    if (grade >= 0) {
      table.add(unescaped_word(line.words[0]), unescaped_word(line.words[2]), static_cast<float>(grade), number);
    } else {
      table.query(unescaped_word(line.words[0]));
    }
  });
  return table.rows();
}

DocumentRows read_scores(const std::string& path, const ScoreColumns& columns) {
  CsvReader file(path, columns.delimiter);
  CsvRecord record;
  if (!file.next(record)) throw ParseError(path, 1, 1, "the file is empty, expected scores");
  const size_t width = record.fields.size();
  const auto column = [&](const char* what, const std::string& name) {
    const bool is_placed = std::find(columns.placed.begin(), columns.placed.end(), what) != columns.placed.end();
    return column_of(file, record, name, columns.header && !is_placed);
  };
  const size_t query = column("qid", columns.query), document = column("docid", columns.document),
               score = column("score", columns.score);
  DocumentTable table(path);
  for (bool more = columns.header ? file.next(record) : true; more; more = file.next(record)) {
    check_width(file, record, width);
    const float value = parse_number(record.fields[score], path, record.line, record.columns[score], "the score");
    table.add(id_in(file, record, query, "query"), id_in(file, record, document, "document"), value, record.line);
  }
  return table.rows();
}

}  // namespace mr
