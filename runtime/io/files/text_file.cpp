#include "runtime/io/files/text_file.h"

#include <algorithm>
#include <cmath>
#include <new>

#include <fast_float/fast_float.h>
#include <zlib.h>

#include "kernels/core/threads.h"
#include "runtime/io/files/unpack_limit.h"

namespace mr {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& text) {
  throw std::runtime_error(path + ": " + text);
}

struct Inflater {
  z_stream stream{};
  Inflater() {
    // zlib reads the window size 16 + MAX_WBITS as: accept gzip headers only.
    if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

std::string unpacked(const std::string& path, std::string_view packed, int64_t max_bytes) {
  Inflater inflater;
  z_stream& z = inflater.stream;
  z.next_in =
      reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));  // NOLINT: zlib's old signature; it only reads
  size_t left = packed.size();
  const io::UnpackLimit limit(static_cast<int64_t>(packed.size()), max_bytes);
  std::string out;
  size_t filled = 0;
  for (;;) {
    if (out.size() - filled < (size_t{1} << 16)) out.resize(out.size() + out.size() / 2 + (size_t{1} << 20));
    cpu::check_interrupt();
    const size_t room = std::min(out.size() - filled, size_t{1} << 26), given = std::min(left, size_t{1} << 30);
    z.next_out = reinterpret_cast<Bytef*>(out.data() + filled);
    z.avail_out = static_cast<uInt>(room);
    z.avail_in = static_cast<uInt>(given);
    const int status = inflate(&z, Z_NO_FLUSH);
    filled += room - z.avail_out;
    left -= given - z.avail_in;
    if (static_cast<int64_t>(filled) > limit.bytes()) fail(path, limit.text());
    if (status == Z_STREAM_END) {
      if (left == 0) break;
      inflateReset(&z);  // the file continues with another gzip member (compressed part)
      continue;
    }
    if (status == Z_BUF_ERROR || (status == Z_OK && left == 0 && z.avail_out > 0)) {
      fail(path, "truncated gzip data: the file ends after " + std::to_string(filled) + " unpacked bytes");
    }
    if (status != Z_OK) fail(path, std::string("damaged gzip data: ") + (z.msg != nullptr ? z.msg : "unknown"));
  }
  out.resize(filled);
  return out;
}

}  // namespace

std::string read_text(const io::RegularFile& file, int64_t max_bytes) {
  std::string text(static_cast<size_t>(file.size()), '\0');
  file.read(0, text.data(), file.size());
  if (is_packed(text)) text = unpacked(file.path(), text, max_bytes);
  if (text.compare(0, byte_order_mark.size(), byte_order_mark) == 0) text.erase(0, byte_order_mark.size());
  return text;
}

std::string read_text_file(const std::string& path, int64_t max_bytes) {
  return read_text(io::RegularFile(path, max_bytes), max_bytes);
}

std::string quoted(std::string_view word) {
  constexpr size_t shown = 40;
  return "'" + without_zeros(word.substr(0, shown)) + (word.size() > shown ? "..." : "") + "'";
}

bool read_number(const char* begin, const char* end, float& value, const char*& stop) {
  const auto [after, status] = fast_float::from_chars(begin, end, value);
  stop = after;
  // The parser also reports numbers that are out of range. If the value is finite, it was too small and became 0 or
  // nearly 0, which is not an error.
  return (status == std::errc() || status == std::errc::result_out_of_range) && std::isfinite(value);
}

float parse_number(std::string_view word, const std::string& path, int64_t line, int64_t column,
                   const std::string& what) {
  float value = 0;
  std::string_view digits = word;
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
  const char *const end = digits.data() + digits.size(), *stop = nullptr;
  if (!read_number(digits.data(), end, value, stop) || stop != end) {
    throw ParseError(path, line, column, "found " + quoted(word) + ", expected a finite number (float32) for " + what);
  }
  return value;
}

}  // namespace mr
