// Text files, plain or gzipped, whole in memory; and errors that say where in a file something is wrong.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace mr {

constexpr int64_t largest_text = int64_t{8} << 30;

/// The text of a file, unpacked where it starts like gzip. Throws with the path: missing, a folder, truncated or
/// damaged gzip, more than max_bytes.
std::string read_text_file(const std::string& path, int64_t max_bytes = largest_text);

/// Something in a file is not as expected; the text is "path:line:column: found, expected".
class ParseError : public std::runtime_error {
 public:
  ParseError(const std::string& path, int64_t line, int64_t column, const std::string& text)
      : std::runtime_error(path + ":" + std::to_string(line) + ":" + std::to_string(column) + ": " + text) {}
};

/// A found word for a message: quoted, cut if long.
std::string quoted(std::string_view word);

/// The number that is the whole of `word`; throws ParseError naming `what` elsewhere.
double parse_number(std::string_view word, const std::string& path, int64_t line, int64_t column, const char* what);

}  // namespace mr
