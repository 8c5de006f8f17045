// Files that are read: regular ones only, also if they change meanwhile.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace mr::io {

/// Identifies the state of a file without reading it; times in nanoseconds since 1970.
struct FileStamp {
  int64_t size = 0;
  int64_t modified = 0;  // of the content; programs that copy files may set it
  int64_t changed = 0;   // of the content or anything else; cannot be set
  bool operator==(const FileStamp&) const = default;
};

/// Throws where a name has a zero byte, at which it would end for the system.
void need_path(const std::string& path);
/// Throws where a file of this name is there that is not a regular one: a folder, a pipe, a device, a link to nothing.
/// Opening these may wait for ever, and reading them may never end.
void need_regular(const std::string& path);

/// A regular file, open for reading. It is read, not mapped: truncating a mapped file would end the program. A file
/// that is replaced by renaming keeps its old bytes here.
class RegularFile {
 public:
  /// Throws with the path: missing, not a regular file, more than max_bytes.
  explicit RegularFile(const std::string& path, int64_t max_bytes = std::numeric_limits<int64_t>::max());
  ~RegularFile();
  RegularFile(RegularFile&& other) noexcept;
  RegularFile& operator=(RegularFile&&) = delete;

  const std::string& path() const { return path_; }
  int64_t size() const { return stamp_.size; }
  /// As of the opening; and whether it is still so.
  const FileStamp& stamp() const { return stamp_; }
  bool unchanged() const;

  /// These bytes of it. Throws with the path where the file has become shorter. Threads may read at the same time.
  void read(int64_t at, void* target, int64_t bytes) const;
  /// Tells the system that all of it will be read.
  void read_soon() const;
  /// io::checksum of its bytes.
  uint64_t checksum() const;

 private:
  std::string path_;
  int descriptor_ = -1;
  FileStamp stamp_;
};

}  // namespace mr::io
