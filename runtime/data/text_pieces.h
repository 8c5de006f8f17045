// Divides the text of a file into pieces of whole lines. Each piece is read by the thread that parses it, so that it
// stays in this thread's cache.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/data/blanks.h"
#include "runtime/data/plain_number.h"
#include "runtime/io/files/regular_file.h"

namespace mr {

class TextPieces {
 public:
  /// Opens a text file, plain or gzipped. A gzipped file is unpacked as a whole. Throws with the path if it cannot be
  /// read.
  TextPieces(const std::string& path, int64_t piece_bytes);

  const io::RegularFile& file() const { return file_; }
  int64_t pieces() const { return (size() + piece_bytes_ - 1) / piece_bytes_; }

  /// number of zero bytes after a piece, into which fast parsers may read (plain_number.h, blanks.h)
  static constexpr int64_t margin = std::max<int64_t>(plain_number_reach, Blanks::reach);

  /// A piece of the text in memory. After `lines`, the rest of the text that was read follows, then zero bytes.
  struct Piece {
    std::unique_ptr<char[]> bytes;
    std::string_view lines;
    std::string_view readable;  // everything from the first line to the last zero byte
  };
  /// Reads the lines that begin in the i-th range of `piece_bytes` bytes of the text. The last line is read to its end.
  /// Several threads may read pieces at the same time.
  Piece piece(int64_t i) const;

 private:
  int64_t size() const;
  void read(int64_t at, char* target, int64_t bytes) const;

  io::RegularFile file_;
  int64_t piece_bytes_;
  int64_t start_ = 0;  // offset of the text in the file: after the byte order mark if there is one
  std::optional<std::string> unpacked_;
};

}  // namespace mr
