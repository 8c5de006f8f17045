// Reads regular files, with checks for files of another type and for files that change meanwhile.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace mr::io {

/// Identifies the state of a file without reading its content: size and times, in nanoseconds since 1970.
struct FileStamp {
  int64_t size = 0;
  int64_t modified = 0;  // time of the last change of content; programs that copy files may set this time
  int64_t changed = 0;   // time of the last change of content or attributes (ctime); programs cannot set this time
  bool operator==(const FileStamp&) const = default;
};

/// Throws if a path has a zero byte, at which the operating system would end it.
void need_path(const std::string& path);
/// Throws if the path exists but is not a regular file: a folder, a pipe, a device, or a dangling link. Opening such
/// files may block forever, and reading them may never end.
void need_regular(const std::string& path);

/// A regular file, open for reading. It is not memory-mapped, because truncating a mapped file would crash the program.
/// A file that is replaced by renaming keeps its old bytes here.
class RegularFile {
 public:
  /// Opens the file. Throws with the path if the file is missing, not regular, or larger than max_bytes.
  explicit RegularFile(const std::string& path, int64_t max_bytes = std::numeric_limits<int64_t>::max());
  ~RegularFile();
  RegularFile(RegularFile&& other) noexcept;
  RegularFile& operator=(RegularFile&&) = delete;

  const std::string& path() const { return path_; }
  int64_t size() const { return stamp_.size; }
  /// `stamp` returns the file's state when it was opened. `unchanged` returns true if the state is still equal.
  const FileStamp& stamp() const { return stamp_; }
  bool unchanged() const;

  /// Reads `bytes` at offset `at`. Throws with the path if the file became shorter. Thread-safe.
  void read(int64_t at, void* target, int64_t bytes) const;
  /// Advises the operating system to read the whole file ahead.
  void read_soon() const;
  uint64_t checksum() const;

 private:
  std::string path_;
  int descriptor_ = -1;
  FileStamp stamp_;
};

}  // namespace mr::io
