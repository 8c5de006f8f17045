// Reader for comma separated values (RFC 4180) with LF or CRLF. Quoted fields may have commas, line ends and quotes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mr {

/// One record: its fields, the line on which it starts, and the column where each field starts. Lines and columns count
/// from 1.
struct CsvRecord {
  std::vector<std::string> fields;
  std::vector<int64_t> columns;
  int64_t line = 0;
};

class CsvReader {
 public:
  /// Reads the whole CSV file, plain or gzipped, into memory.
  explicit CsvReader(std::string path, char delimiter = ',');

  /// Reads the next record into `record`, whose memory is reused. Returns false at the end. Empty lines are skipped.
  bool next(CsvRecord& record);
  const std::string& path() const { return path_; }
  char delimiter() const { return delimiter_; }

 private:
  void field(CsvRecord& record);
  void quoted_field(CsvRecord& record, std::string& into);

  std::string path_;
  char delimiter_;
  std::string text_;
  size_t at_ = 0, line_start_ = 0;
  int64_t line_ = 1;
  size_t used_ = 0;
};

constexpr size_t no_column = static_cast<size_t>(-1);

/// Returns the index of a column of a CSV file. With `header`, `name` is a name in the first line; otherwise it is the
/// column's number, counted from 1. Returns no_column if there is no such column. Throws ParseError if the name occurs
/// twice.
size_t find_column(const CsvReader& file, const CsvRecord& first, const std::string& name, bool header);
/// Like `find_column`, but throws ParseError, which lists the columns, if there is no such column.
size_t column_of(const CsvReader& file, const CsvRecord& first, const std::string& name, bool header);
/// True if the name of a column is its number, counted from 0 or from 1.
bool is_number_of(std::string_view name, size_t column);
/// Returns the column names in the first line, and the delimiter, as text for an error message.
std::string columns_text(const CsvReader& file, const CsvRecord& first);
/// Throws ParseError unless the record has as many fields as the first line.
void check_width(const CsvReader& file, const CsvRecord& record, size_t width);
/// Returns the field of a record that holds an id. If the field is empty, throws ParseError that says what the id is of
/// (`what`).
const std::string& id_in(const CsvReader& file, const CsvRecord& record, size_t column, const char* what);

}  // namespace mr
