// The text of a file in pieces of whole lines, each read by the thread that parses it, for cache locality.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/io/files/regular_file.h"

namespace mr {

class TextPieces {
 public:
  /// Opens the file; throws like TextFile. A gzipped file is unpacked as a whole.
  TextPieces(const std::string& path, int64_t piece_bytes);

  const io::RegularFile& file() const { return file_; }
  int64_t pieces() const { return (size() + piece_bytes_ - 1) / piece_bytes_; }

  /// Memory with a piece of the text, followed by zeros that may be read.
  struct Piece {
    std::unique_ptr<char[]> bytes;
    std::string_view lines;
    std::string_view readable;  // the lines and the zeros after them, into which the number parser may read ahead
  };
  /// Reads the lines that begin in the i-th `piece_bytes` of the text; the last line is always whole. Several threads
  /// may read pieces at the same time.
  Piece piece(int64_t i) const;

 private:
  int64_t size() const;
  void read(int64_t at, char* target, int64_t bytes) const;

  io::RegularFile file_;
  int64_t piece_bytes_;
  int64_t start_ = 0;  // where the text begins in the file, after a byte order mark
  std::optional<std::string> unpacked_;
};

}  // namespace mr
