// Reads regular files. Refuses other types of files, and detects files that change while they are read.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace mr::io {

/// The state of a file, by which changes are detected without reading its content: its size, and times in nanoseconds
/// since 1970.
struct FileStamp {
  int64_t size = 0;
  int64_t modified = 0;  // time of the last change of content; programs that copy files may set this time
  int64_t changed = 0;   // time of the last change of content or attributes (ctime); programs cannot set this time
  bool operator==(const FileStamp&) const = default;
};

/// Throws if a path contains a zero byte, because the operating system would cut the path off there.
void need_path(const std::string& path);
/// Throws if the path exists but is not a regular file: a folder, a pipe, a device, or a dangling link. Opening such
/// files may block forever, and reading them may never end.
void need_regular(const std::string& path);

/// A regular file that is open for reading. It is not memory-mapped, because a mapped file that becomes shorter would
/// crash the program. If another file takes its name, this object still reads the old file.
class RegularFile {
 public:
  /// Opens a file for reading. Throws an error with its path if it is missing, not regular, or larger than max_bytes.
  explicit RegularFile(const std::string& path, int64_t max_bytes = std::numeric_limits<int64_t>::max());
  ~RegularFile();
  RegularFile(RegularFile&& other) noexcept;
  RegularFile& operator=(RegularFile&&) = delete;

  const std::string& path() const { return path_; }
  int64_t size() const { return stamp_.size; }
  /// `stamp` returns size and times of the file when it was opened. `unchanged` returns true if they are still the
  /// same.
  const FileStamp& stamp() const { return stamp_; }
  bool unchanged() const;

  /// Reads `bytes` bytes at offset `at` into `target`. Throws an error with the path if the file has become shorter.
  /// Several threads may call it at the same time.
  void read(int64_t at, void* target, int64_t bytes) const;
  /// Asks the operating system to read the whole file into memory ahead of time.
  void read_soon() const;
  uint64_t checksum() const;

 private:
  std::string path_;
  int descriptor_ = -1;
  FileStamp stamp_;
};

}  // namespace mr::io
