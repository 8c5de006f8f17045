// The binary file of letor_cache.h: a header of fixed size, the key, features, labels, sizes of lists, lengths of ids
// and of document names, then their texts. Numbers are little-endian.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>

#include "runtime/data/letor/letor.h"
#include "runtime/io/files/regular_file.h"

namespace mr {

/// Identifies the text file and the options that a cache was made from.
struct LetorSource {
  std::string key;  // path of the LETOR file and options for reading it, as text
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
  int64_t rows, width, queries, documents;  // documents: number of rows, or 0 if no row has a document name
  int64_t key_bytes, text_bytes;
  uint64_t payload_checksum;  // checksum of all bytes after the header
  uint64_t header_checksum;   // checksum of the header's other bytes
};

/// Thrown for a cache that exists but cannot be used. The message begins with its path.
struct BadCache : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class LetorCacheFile {
 public:
  /// Opens a cache; returns nothing if there is no file. Throws BadCache unless version, key and sizes match.
  static std::optional<LetorCacheFile> open(const std::string& path, const std::string& key);

  const LetorSource& source() const { return source_; }
  /// Throws BadCache if a checksum does not match.
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

/// Writes a cache through io::NewFile and makes its folders. It replaces only caches, and throws std::runtime_error
/// with the path otherwise.
void write_letor_cache(const std::string& path, const LetorSource& source, const LetorFile& file);

}  // namespace mr
