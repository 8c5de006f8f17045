#include "runtime/data/trec.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <numeric>
#include <optional>

#include "kernels/core/threads.h"
#include "runtime/data/blanks.h"
#include "runtime/data/csv.h"
#include "runtime/data/document_table.h"
#include "runtime/data/plain_number.h"
#include "runtime/data/text_pieces.h"
#include "runtime/io/files/text_file.h"

namespace mr {
namespace {

/// The words of a line, which blanks and tabs separate.
template <size_t Expected>
struct Line {
  const char* start;
  std::array<std::string_view, Expected> words;

  int64_t column(size_t word) const { return words[word].data() - start + 1; }
};

/// Finds the words of a line that begins at `from`, and returns their number. If there are more than expected, returns
/// Expected + 1. `from` becomes the start of the next line.
template <size_t Expected>
size_t read_words(Blanks& blanks, const char*& from, const char* end, Line<Expected>& line) {
  line.start = from;
  if (blanks.plain_line(from, line.words)) {
    from = line.words[Expected - 1].data() + line.words[Expected - 1].size() + 1;
    return Expected;
  }
  size_t count = 0;
  for (bool more = true; more && count <= Expected;) {
    const char* const to = blanks.next();
    if (to > from) {
      if (count < Expected) line.words[count] = {from, static_cast<size_t>(to - from)};
      ++count;
    }
    more = to < end && *to != '\n';
    from = to + 1;
  }
  return count;
}

/// Calls f(line, line number) for every line of a text that is not blank. The first line has the number lines_before +
/// 1. Returns the number of lines. Zero bytes follow the text, unless it ends with a line end (TextPieces::Piece).
template <size_t Expected, class F>
int64_t each_line(const std::string& path, std::string_view text, int64_t lines_before, const char* fields, F f) {
  int64_t number = lines_before;
  const char *from = text.data(), *const end = from + text.size();
  Blanks blanks(from, end);
  Line<Expected> line;
  while (from < end) {
    if ((++number & 0xFFF) == 0) cpu::check_interrupt();
    const size_t count = read_words(blanks, from, end, line);
    if (count == Expected) {
      f(line, number);
    } else if (count > 0) {
      throw ParseError(path, number, 1,
                       "found " + (count > Expected ? "more than " + std::to_string(Expected) : std::to_string(count)) +
                           " fields, expected " + std::to_string(Expected) + ": " + fields);
    }
  }
  return number - lines_before;
}

/// Reads a file on all threads, in pieces. f(table, line, line number) adds a line to the table of its piece. If there
/// are bad lines, the error is that of the first one in the file.
template <size_t Expected, class F>
DocumentRows read_lines(const std::string& path, const char* fields, F f) {
  const TextPieces text(path, int64_t{1} << 18);
  const auto read = [&](std::string_view piece, int64_t lines_before, DocumentTable& table) {
    return each_line<Expected>(path, piece, lines_before, fields,
                               [&](const Line<Expected>& line, int64_t number) { f(table, line, number); });
  };
  const auto count = static_cast<size_t>(text.pieces());
  std::vector<DocumentTable> pieces(count);
  std::vector<int64_t> lines(count);
  std::vector<std::optional<TextPieces::Piece>> bad(count);  // those with a bad line
  cpu::parallel_each(text.pieces(), 1, [&](int64_t i) {
    TextPieces::Piece piece = text.piece(i);
    const size_t bytes = piece.lines.size(), first_line = std::min(piece.lines.find('\n'), bytes);
    pieces[i].reserve(bytes / std::max(first_line + 1, 2 * Expected) + 1, bytes / 4);
    try {
      lines[i] = read(piece.lines, 0, pieces[i]);
    } catch (const ParseError&) {
      bad[i] = std::move(piece);
    }
  });
  DocumentTable all;
  int64_t lines_before = 0;
  for (size_t i = 0; i < count; ++i) {
    // parses the first piece with a bad line again, which throws its error, now with the right line number
    if (bad[i]) read(bad[i]->lines, lines_before, all);
    lines_before += lines[i];
  }
  all.append(pieces, lines);
  pieces.clear();
  return std::move(all).rows(path);
}

constexpr std::string_view blanks = " \t\r\n\f\v", escape_mark = "%%", hex_digits = "0123456789ABCDEF";

/// Reads up to `plain_number_reach` bytes beyond the word.
int64_t grade_of(std::string_view word, const std::string& path, int64_t line, int64_t column) {
  constexpr int64_t largest = int64_t{1} << 24;  // float32 represents all integers up to 2^24 exactly
  const Digits digits = leading_digits(word.data());
  if (std::endian::native == std::endian::little && digits.count < 8 &&
      static_cast<size_t>(digits.count) == word.size())
    return static_cast<int64_t>(digits.value);
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

bool is_escaped(std::string_view word) { return word.size() > 1 && word[0] == '%' && word[1] == '%'; }

/// Adds a row whose query and document are words of a file.
void add_words(DocumentTable& table, std::string_view query, std::string_view document, float value, int64_t line) {
  if (!is_escaped(query) && !is_escaped(document)) return table.add(query, document, value, line);
  table.add(unescaped_word(query), unescaped_word(document), value, line);
}

}  // namespace

DocumentRows read_trec_run(const std::string& path) {
  const auto add = [&](DocumentTable& table, const Line<6>& line, int64_t number) {
    const std::string_view word = line.words[4];
    float score = 0;
    // reads beyond the word, into the rest of the line or into the zero bytes after the text
    if (plain_number(word.data(), score) != word.data() + word.size())
      score = parse_number(word, path, number, line.column(4), "the score");
    add_words(table, line.words[0], line.words[2], score, number);
  };
  return read_lines<6>(path, "query Q0 document rank score tag", add);
}

DocumentRows read_trec_qrels(const std::string& path) {
  const auto add = [&](DocumentTable& table, const Line<4>& line, int64_t number) {
    const int64_t grade = grade_of(line.words[3], path, number, line.column(3));
    if (grade >= 0) {
      add_words(table, line.words[0], line.words[2], static_cast<float>(grade), number);
    } else {
      table.number_of(unescaped_word(line.words[0]));
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
