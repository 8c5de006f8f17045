#include "runtime/data/csv.h"

#include <algorithm>
#include <charconv>

#include "kernels/core/threads.h"
#include "runtime/io/files/text_file.h"

namespace mr {

CsvReader::CsvReader(std::string path, char delimiter)
    : path_(std::move(path)), delimiter_(delimiter), text_(read_text_file(path_)) {}

bool CsvReader::next(CsvRecord& record) {
  cpu::check_interrupt();
  while (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r')) {
    if (text_[at_++] == '\n') {
      ++line_;
      line_start_ = at_;
    }
  }
  if (at_ >= text_.size()) return false;
  record.line = line_;
  used_ = 0;
  record.columns.clear();
  for (;;) {
    field(record);
    if (at_ >= text_.size()) break;
    const char mark = text_[at_++];
    if (mark == delimiter_) continue;
    if (mark == '\r' && at_ < text_.size() && text_[at_] == '\n') ++at_;
    ++line_;
    line_start_ = at_;
    break;
  }
  record.fields.resize(used_);
  return true;
}

void CsvReader::field(CsvRecord& record) {
  if (used_ == record.fields.size()) record.fields.emplace_back();
  std::string& into = record.fields[used_++];
  record.columns.push_back(static_cast<int64_t>(at_ - line_start_) + 1);
  if (at_ < text_.size() && text_[at_] == '"') {
    quoted_field(record, into);
    return;
  }
  size_t end = at_;
  while (end < text_.size() && text_[end] != delimiter_ && text_[end] != '\n' && text_[end] != '\r') ++end;
  into.assign(text_, at_, end - at_);
  at_ = end;
}

void CsvReader::quoted_field(CsvRecord& record, std::string& into) {
  const int64_t column = record.columns.back(), line = line_;
  into.clear();
  for (++at_;; ++at_) {
    if (at_ >= text_.size())
      throw ParseError(path_, line, column, "found a quote that is never closed, expected another quote");
    if (text_[at_] == '"') {
      if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        ++at_;
      } else {
        break;
      }
    }
    if (text_[at_] == '\n') {
      ++line_;
      line_start_ = at_ + 1;
    }
    into += text_[at_];
  }
  ++at_;
  if (at_ < text_.size() && text_[at_] != delimiter_ && text_[at_] != '\n' && text_[at_] != '\r') {
    throw ParseError(path_, line_, static_cast<int64_t>(at_ - line_start_) + 1,
                     "found text after a closing quote, expected the end of the field");
  }
}

size_t find_column(const CsvReader& file, const CsvRecord& first, const std::string& name, bool header) {
  const auto at = std::find(first.fields.begin(), first.fields.end(), name);
  if (header && at != first.fields.end()) {
    const auto again = std::find(at + 1, first.fields.end(), name);
    if (again == first.fields.end()) return static_cast<size_t>(at - first.fields.begin());
    throw ParseError(file.path(), first.line, first.columns[static_cast<size_t>(again - first.fields.begin())],
                     "found a second column named " + quoted(name) + ", expected one");
  }
  if (header) return no_column;
  size_t number = 0;
  const char* const end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data(), end, number);
  const bool is_number = parsed.ec == std::errc() && parsed.ptr == end;
  return is_number && number >= 1 && number <= first.fields.size() ? number - 1 : no_column;
}

bool is_number_of(std::string_view name, size_t column) {
  return name == std::to_string(column) || name == std::to_string(column + 1);
}

namespace {

constexpr size_t most_shown = 12;

std::string delimiter_text(char delimiter) { return delimiter == '\t' ? "'\\t'" : quoted({&delimiter, 1}); }

}  // namespace

std::string columns_text(const CsvReader& file, const CsvRecord& first) {
  const size_t count = first.fields.size();
  std::string found = count == 1 ? "the column " : "the columns ";
  for (size_t i = 0; i < std::min(count, most_shown); ++i) found += (i == 0 ? "" : ", ") + quoted(first.fields[i]);
  if (count > most_shown) found += " and " + std::to_string(count - most_shown) + " more";
  return found + " (delimiter " + delimiter_text(file.delimiter()) + ")";
}

size_t column_of(const CsvReader& file, const CsvRecord& first, const std::string& name, bool header) {
  const size_t column = find_column(file, first, name, header);
  if (column != no_column) return column;
  if (!header) {
    throw ParseError(file.path(), first.line, 1,
                     "found " + std::to_string(first.fields.size()) + " columns (delimiter " +
                         delimiter_text(file.delimiter()) + "), expected a column number from 1 to " +
                         std::to_string(first.fields.size()) + ", got " + quoted(name));
  }
  throw ParseError(file.path(), first.line, 1,
                   "found " + columns_text(file, first) + ", expected one named " + quoted(name));
}

void check_width(const CsvReader& file, const CsvRecord& record, size_t width) {
  if (record.fields.size() == width) return;
  throw ParseError(file.path(), record.line, 1,
                   "found " + std::to_string(record.fields.size()) + " fields, expected " + std::to_string(width) +
                       " as in the first line");
}

const std::string& id_in(const CsvReader& file, const CsvRecord& record, size_t column, const char* what) {
  const std::string& id = record.fields[column];
  if (id.empty()) {
    throw ParseError(file.path(), record.line, record.columns[column],
                     std::string("found nothing, expected the id of the ") + what);
  }
  return id;
}

}  // namespace mr
