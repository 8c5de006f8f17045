// Reads text files, plain or gzipped, into memory. Errors name line and column of the file.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "runtime/io/files/regular_file.h"
#include "runtime/io/safe_text.h"
#include "runtime/tensor/without_zeros.h"

namespace mr {

constexpr int64_t largest_text = int64_t{8} << 30;

/// Returns the text of a file without a byte order mark. If the file starts like gzip, it is unpacked. Throws an error
/// with the path if the file is missing, not regular, truncated or damaged gzip, or larger than max_bytes or
/// io::UnpackLimit allow.
std::string read_text_file(const std::string& path, int64_t max_bytes = largest_text);
std::string read_text(const io::RegularFile& file, int64_t max_bytes);

inline bool is_packed(std::string_view bytes) { return bytes.substr(0, 2) == "\x1f\x8b"; }
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// An error in the content of a file; the message is "path:line:column: found, expected".
class ParseError : public std::runtime_error {
 public:
  ParseError(const std::string& path, int64_t line, int64_t column, const std::string& text)
      : std::runtime_error(path + ":" + std::to_string(line) + ":" + std::to_string(column) + ": " +
                           without_zeros(text)) {}
};

/// Parses the number at the start of the text [begin, end). Returns true if it is finite as float32; `stop` is the
/// position after it.
bool read_number(const char* begin, const char* end, float& value, const char*& stop);

/// Returns a word of a file as it is shown in an error: in quotes, shortened if long, with zero bytes escaped.
std::string quoted(std::string_view word);

/// Parses `word` as a number, rounded once to float32. Numbers that are too small become 0. Throws ParseError, which
/// says what the number is for (`what`), if the word is not a number, is infinite or NaN, or overflows float32.
float parse_number(std::string_view word, const std::string& path, int64_t line, int64_t column,
                   const std::string& what);

}  // namespace mr
