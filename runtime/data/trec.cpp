#include "runtime/data/trec.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "kernels/core/patient.h"
#include "kernels/core/threads.h"
#include "runtime/data/csv.h"
#include "runtime/data/text_pieces.h"
#include "runtime/io/files/text_file.h"
#include "runtime/tensor/name_order.h"

namespace mr {
namespace {

/// Collects rows (documents with a score or grade) in the order of a file, or of a piece of a file. Each row has the
/// number of its query.
class DocumentTable {
 public:
  int64_t query(std::string_view id) {
    if (last_ >= 0 && out_.ids[static_cast<size_t>(last_)] == id) return last_;
    const auto [at, is_new] = numbers_.try_emplace(std::string(id), static_cast<int64_t>(out_.ids.size()));
    if (is_new) out_.ids.emplace_back(id);
    return last_ = at->second;
  }

  void add(std::string_view query_id, std::string_view document, float value, int64_t line) {
    queries_.push_back(query(query_id));
    out_.documents.push_back(document);
    out_.values.push_back(value);
    lines_.push_back(line);
  }

  /// Reserves memory for this number of rows, with names of this length together.
  void reserve(int64_t rows, size_t name_bytes) {
    const auto count = static_cast<size_t>(rows);
    out_.documents.reserve(count, name_bytes);
    out_.values.reserve(count);
    queries_.reserve(count);
    lines_.reserve(count);
  }

  int64_t row_count() const { return static_cast<int64_t>(lines_.size()); }
  size_t name_bytes() const { return out_.documents.bytes(); }

  /// Appends the rows of the next piece of the file. `lines_before` is the number of lines before this piece.
  void append(const DocumentTable& next, int64_t lines_before) {
    std::vector<int64_t> numbers;
    for (const std::string& id : next.out_.ids) numbers.push_back(query(id));
    for (const int64_t q : next.queries_) queries_.push_back(numbers[static_cast<size_t>(q)]);
    out_.documents.append(next.out_.documents);
    out_.values.insert(out_.values.end(), next.out_.values.begin(), next.out_.values.end());
    for (const int64_t line : next.lines_) lines_.push_back(lines_before + line);
  }

  /// Returns the rows, grouped by query. Throws if a document occurs twice in a query.
  DocumentRows rows(const std::string& path) && {
    if (out_.ids.empty()) throw ParseError(path, 1, 1, "found no rows, expected documents of queries");
    out_.sizes.assign(out_.ids.size(), 0);
    for (const int64_t q : queries_) ++out_.sizes[static_cast<size_t>(q)];
    group();
    check_once(path);
    return std::move(out_);
  }

 private:
  /// Reorders the rows, so that the rows of each query are adjacent.
  void group() {
    if (std::is_sorted(queries_.begin(), queries_.end())) return;
    std::vector<size_t> order(queries_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const auto less = [&](size_t a, size_t b) { return queries_[a] < queries_[b]; };
    std::stable_sort(order.begin(), order.end(), cpu::patient(less));
    const auto in_order = [&]<class T>(std::vector<T>& values) {
      std::vector<T> sorted;
      sorted.reserve(values.size());
      for (const size_t row : order) sorted.push_back(values[row]);
      values = std::move(sorted);
    };
    Names documents;
    documents.reserve(order.size(), out_.documents.bytes());
    for (const size_t row : order) documents.push_back(out_.documents[row]);
    out_.documents = std::move(documents);
    in_order(out_.values);
    in_order(lines_);
  }

  void check_once(const std::string& path) const {
    const auto count = static_cast<int64_t>(out_.sizes.size());
    std::vector<int64_t> starts(out_.sizes.size());
    std::exclusive_scan(out_.sizes.begin(), out_.sizes.end(), starts.begin(), int64_t{0});
    std::vector<std::optional<RepeatedName>> repeated(out_.sizes.size());
    cpu::parallel_each(count, lists_per_task(count, static_cast<int64_t>(lines_.size())), [&](int64_t q) {
      const NameSpan names(out_.documents, static_cast<size_t>(starts[q]), static_cast<size_t>(out_.sizes[q]));
      repeated[q] = first_repeated(names, name_order(names));
    });
    for (int64_t q = 0; q < count; ++q) {
      if (!repeated[q]) continue;
      const auto again = static_cast<size_t>(starts[q] + repeated[q]->again),
                 before = static_cast<size_t>(starts[q] + repeated[q]->before);
      throw ParseError(path, lines_[again], 1,
                       "found document " + mr::quoted(out_.documents[again]) + " of query " + mr::quoted(out_.ids[q]) +
                           " a second time (first at line " + std::to_string(lines_[before]) +
                           "), expected each document once");
    }
  }

  DocumentRows out_;  // `sizes` is filled at the end, when all rows are there
  std::unordered_map<std::string, int64_t> numbers_;
  int64_t last_ = -1;
  std::vector<int64_t> queries_, lines_;
};

/// The words of a line, which blanks and tabs separate. At most `Most` words are stored; `count` is `Most` + 1 if there
/// are more.
template <size_t Most>
struct Words {
  std::array<std::string_view, Most> words;
  std::array<int64_t, Most> columns;
  size_t count = 0;

  explicit Words(std::string_view line) {
    // The characters from \t to \r are \t, \n, \v, \f and \r. A line has no \n.
    const auto blank = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
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

/// Calls f(words, line number) for every line of a text that is not blank. The first line has the number lines_before +
/// 1.
template <size_t Expected, class F>
void each_line(const std::string& path, std::string_view text, int64_t lines_before, const char* fields, F f) {
  int64_t number = lines_before;
  for (size_t at = 0; at < text.size();) {
    if ((++number & 0xFFF) == 0) cpu::check_interrupt();
    const size_t end = std::min(text.find('\n', at), text.size());
    const Words<Expected> line(text.substr(at, end - at));
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

/// The rows of a piece of a file, with line numbers that count from the start of the piece. If the piece has a bad
/// line, `bad` keeps its text.
struct ReadPiece {
  DocumentTable table;
  int64_t lines = 0;
  std::optional<TextPieces::Piece> bad;
};

/// Reads a file on all threads, in pieces. f(table, words, line number) adds a line to the table of its piece. If there
/// are bad lines, the error is that of the first one in the file.
template <size_t Expected, class F>
DocumentRows read_lines(const std::string& path, const char* fields, F f) {
  const TextPieces text(path, int64_t{1} << 18);
  std::vector<ReadPiece> pieces(static_cast<size_t>(text.pieces()));
  const auto read = [&](std::string_view lines, int64_t lines_before, DocumentTable& table) {
    each_line<Expected>(path, lines, lines_before, fields,
                        [&](const Words<Expected>& line, int64_t number) { f(table, line, number); });
  };
  cpu::parallel_each(text.pieces(), 1, [&](int64_t i) {
    TextPieces::Piece piece = text.piece(i);
    pieces[i].lines = std::count(piece.lines.begin(), piece.lines.end(), '\n');
    pieces[i].table.reserve(pieces[i].lines + 1, piece.lines.size() / 2);
    try {
      read(piece.lines, 0, pieces[i].table);
    } catch (const ParseError&) {
      pieces[i].bad = std::move(piece);
    }
  });
  DocumentTable all;
  int64_t rows = 0, lines = 0;
  size_t name_bytes = 0;
  for (const ReadPiece& piece : pieces) {
    rows += piece.table.row_count();
    name_bytes += piece.table.name_bytes();
  }
  all.reserve(rows, name_bytes);
  for (ReadPiece& piece : pieces) {
    // parses the part of the file with a bad line again, and throws its error, now with the right line number
    if (piece.bad) read(piece.bad->lines, lines, all);
    all.append(piece.table, lines);
    piece.table = {};
    lines += piece.lines;
  }
  return std::move(all).rows(path);
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

/// Decodes percent encoding in an escaped name, without its mark "%%". Returns nothing if a "%" is not followed by two
/// hexadecimal digits.
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

namespace {

/// Returns the name that a word of a file stands for. `spare` has its memory if the word is escaped.
std::string_view name_of(std::string_view word, std::string& spare) {
  if (word.substr(0, 2) != escape_mark) return word;
  return spare = unescaped_word(word);
}

/// Adds a row whose query and document are words of a file.
void add_words(DocumentTable& table, std::string_view query, std::string_view document, float value, int64_t line) {
  std::string query_name, document_name;
  table.add(name_of(query, query_name), name_of(document, document_name), value, line);
}

}  // namespace

DocumentRows read_trec_run(const std::string& path) {
  const auto add = [&](DocumentTable& table, const Words<6>& line, int64_t number) {
    const float score = parse_number(line.words[4], path, number, line.columns[4], "the score");
    add_words(table, line.words[0], line.words[2], score, number);
  };
  return read_lines<6>(path, "query Q0 document rank score tag", add);
}

DocumentRows read_trec_qrels(const std::string& path) {
  const auto add = [&](DocumentTable& table, const Words<4>& line, int64_t number) {
    const int64_t grade = grade_of(line.words[3], path, number, line.columns[3]);
    if (grade >= 0) {
      add_words(table, line.words[0], line.words[2], static_cast<float>(grade), number);
    } else {
      table.query(unescaped_word(line.words[0]));
    }
  };
  return read_lines<4>(path, "query iteration document grade", add);
}

namespace {

/// Throws if the line of column names has a number as the name of the score, unless it is the number of the column,
/// because the line is data then.
void check_is_name(const CsvReader& file, const CsvRecord& first, size_t score) {
  const std::string_view name = first.fields[score];
  double value = 0;
  const char* const end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data(), end, value);
  if (parsed.ec == std::errc::invalid_argument || parsed.ptr != end) return;
  if (is_number_of(name, score)) return;
  throw ParseError(file.path(), first.line, first.columns[score],
                   "found the number " + quoted(name) +
                       " as the name of the score's column. Pass header = false if "
                       "the file has no line of names, or add one");
}

}  // namespace

DocumentRows read_scores(const std::string& path, const ScoreColumns& columns) {
  CsvReader file(path, columns.delimiter);
  CsvRecord record;
  if (!file.next(record)) throw ParseError(path, 1, 1, "the file is empty, expected scores");
  const size_t width = record.fields.size();
  const auto is_placed = [&](const char* what) {
    return std::find(columns.placed.begin(), columns.placed.end(), what) != columns.placed.end();
  };
  const auto column = [&](const char* what, const std::string& name) {
    return column_of(file, record, name, columns.header && !is_placed(what));
  };
  const size_t query = column("qid", columns.query), document = column("docid", columns.document),
               score = column("score", columns.score);
  if (columns.header && is_placed("score")) check_is_name(file, record, score);
  DocumentTable table;
  for (bool more = columns.header ? file.next(record) : true; more; more = file.next(record)) {
    check_width(file, record, width);
    const float value = parse_number(record.fields[score], path, record.line, record.columns[score], "the score");
    table.add(id_in(file, record, query, "query"), id_in(file, record, document, "document"), value, record.line);
  }
  return std::move(table).rows(path);
}

}  // namespace mr
