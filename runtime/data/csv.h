// Comma separated values (RFC 4180): LF or CRLF, fields in double quotes with doubled quotes, commas and line ends
// inside.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mr {

/// One record: its fields, the line that it starts on, and the column where each field starts (both from 1).
struct CsvRecord {
  std::vector<std::string> fields;
  std::vector<int64_t> columns;
  int64_t line = 0;
};

class CsvReader {
 public:
  /// Reads the file (plain or gzipped) into memory.
  explicit CsvReader(std::string path, char delimiter = ',');

  /// The next record into `record`, whose memory is used again; false at the end. Empty lines are passed over.
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

/// The column of this name in the header, or without `header` the one of this number from 1; no_column where there is
/// none. Two of this name are a ParseError.
size_t find_column(const CsvReader& file, const CsvRecord& first, const std::string& name, bool header);
/// Like `find_column`, but a missing column is a ParseError that says which columns there are.
size_t column_of(const CsvReader& file, const CsvRecord& first, const std::string& name, bool header);
/// The names in the first line and the delimiter, for messages.
std::string columns_text(const CsvReader& file, const CsvRecord& first);
/// As many fields as the first line has.
void check_width(const CsvReader& file, const CsvRecord& record, size_t width);
/// A field that is not empty: the id of `what`.
const std::string& id_in(const CsvReader& file, const CsvRecord& record, size_t column, const char* what);

}  // namespace mr
