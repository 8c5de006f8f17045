// The binary cache file of a LETOR file: a header of fixed size, the key, features, labels, sizes of lists, and lengths
// of query ids and of document names, then the text of these names. Numbers are little-endian.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>

#include "runtime/data/letor/letor.h"
#include "runtime/io/files/regular_file.h"

namespace mr {

/// Identifies the LETOR text file, and the options for reading it, from which a cache was made.
struct LetorSource {
  std::string key;  // path of the text file and options for reading it, as one text
  io::FileStamp stamp;
  uint64_t checksum = 0;
  int64_t read_at = 0;  // time when the text file was read, in nanoseconds since 1970
};

struct LetorCacheHeader {
  char magic[8];
  uint32_t version, byte_order;
  int64_t size, modified, changed;  // size and times of the LETOR text file
  uint64_t source_checksum;
  int64_t read_at;
  // `documents` is the number of rows, or 0 if the rows have no document names
  int64_t rows, width, queries, documents;
  int64_t key_bytes, text_bytes;
  uint64_t payload_checksum;  // checksum of all bytes of the file after the header
  uint64_t header_checksum;   // checksum of all bytes of the file's header before this checksum
};

/// The error of a cache file that exists but cannot be used. The message begins with the file's path.
struct BadCache : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class LetorCacheFile {
 public:
  /// Opens a cache file and reads its header. Returns nothing if there is no file. Throws BadCache if its version or
  /// key is another one, or if its sizes are wrong.
  static std::optional<LetorCacheFile> open(const std::string& path, const std::string& key);

  const LetorSource& source() const { return source_; }
  /// Reads the data from the cache file. Throws BadCache if a checksum does not match.
  LetorFile load() const;

 private:
  explicit LetorCacheFile(const std::string& path) : file_(path) {}
  void read_header();
  void need_sizes() const;
  void read_key(const std::string& key);
  [[noreturn]] void bad(const std::string& text) const;
  void read(int64_t at, void* target, int64_t bytes) const;
  uint64_t read_section(int64_t& at, void* target, int64_t bytes) const;

  io::RegularFile file_;
  LetorCacheHeader header_{};
  LetorSource source_;
};

/// Writes a cache file and creates its folder if needed. If the path exists and is not a cache file, or cannot be
/// written, throws std::runtime_error with the path.
void write_letor_cache(const std::string& path, const LetorSource& source, const LetorFile& file);

}  // namespace mr
