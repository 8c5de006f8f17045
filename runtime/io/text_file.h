// Text files in memory, plain or gzipped; and errors that say where in a file something is wrong.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "runtime/io/regular_file.h"
#include "runtime/io/safe_text.h"
#include "runtime/tensor/without_zeros.h"

namespace mr {

constexpr int64_t largest_text = int64_t{8} << 30;

/// The text of a file, unpacked where it starts like gzip. Throws with the path: missing, not a regular file, truncated
/// or damaged gzip, more than max_bytes or than io::UnpackLimit has. A byte order mark at the start is left out.
std::string read_text_file(const std::string& path, int64_t max_bytes = largest_text);
std::string read_text(const io::RegularFile& file, int64_t max_bytes);

/// True if bytes start like gzip.
inline bool is_packed(std::string_view bytes) { return bytes.substr(0, 2) == "\x1f\x8b"; }
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// Something in a file is not as expected; the text is "path:line:column: found, expected".
class ParseError : public std::runtime_error {
 public:
  ParseError(const std::string& path, int64_t line, int64_t column, const std::string& text)
      : std::runtime_error(path + ":" + std::to_string(line) + ":" + std::to_string(column) + ": " +
                           without_zeros(text)) {}
};

/// True if the number at the start of [begin, end) is finite in float32; `stop` is where it ends.
bool read_number(const char* begin, const char* end, float& value, const char*& stop);

/// A found word for a message: quoted, truncated if long, zero bytes escaped.
std::string quoted(std::string_view word);

/// The number that is the whole of `word`, rounded once to float32 (too small: 0). Throws ParseError naming `what` for
/// words, infinities, NaN, and numbers beyond float32.
float parse_number(std::string_view word, const std::string& path, int64_t line, int64_t column,
                   const std::string& what);

}  // namespace mr
