// The binary file of letor_cache.h: a header of fixed size, the key, then the features, labels, sizes of lists, lengths
// of ids and of documents' names, and all these texts. Numbers are little-endian.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>

#include "runtime/data/letor.h"
#include "runtime/io/regular_file.h"

namespace mr {

/// Identifies the text file and the options that a cache was made from.
struct LetorSource {
  std::string key;  // names path and options
  io::FileStamp stamp;
  uint64_t checksum = 0;
  int64_t read_at = 0;  // nanoseconds since 1970
};

struct LetorCacheHeader {
  char magic[8];
  uint32_t version, byte_order;
  int64_t size, modified, changed;  // of the text file
  uint64_t source_checksum;
  int64_t read_at;
  int64_t rows, width, queries, documents;  // documents: rows, or 0 where none has a name
  int64_t key_bytes, text_bytes;
  uint64_t payload_checksum;  // of all that follows the header
  uint64_t header_checksum;   // of all before it
};

/// The file is there and cannot be used; the text says why, beginning with its path.
struct BadCache : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class LetorCacheFile {
 public:
  /// Nothing where there is no file. Throws BadCache for anything but a header of this version with sizes that are
  /// those of the file, and this key.
  static std::optional<LetorCacheFile> open(const std::string& path, const std::string& key);

  const LetorSource& source() const { return source_; }
  /// Throws BadCache where the bytes are not those that were written.
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

/// Replaces such caches only, by io::NewFile; folders are made. Throws std::runtime_error with the path.
void write_letor_cache(const std::string& path, const LetorSource& source, const LetorFile& file);

}  // namespace mr
