// Files that are read: regular ones only, whatever happens to them meanwhile.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace mr::io {

/// What tells one state of a file from another without reading it; times in nanoseconds since 1970.
struct FileStamp {
  int64_t size = 0;
  int64_t modified = 0;  // the content; programs that copy files set it back
  int64_t changed = 0;   // the content or anything else; nobody can set it
  bool operator==(const FileStamp&) const = default;
};

/// Throws where the system would read less of the name than scripts see: it ends at a zero byte.
void need_path(const std::string& path);
/// Throws where a file of this name is there that is not a regular one: a folder, a pipe, a device, a link to nothing.
/// Opening these may wait for ever, and reading them may never end.
void need_regular(const std::string& path);

/// A regular file, open for reading. It is read, not mapped: whoever cuts a mapped file short ends the program. A file
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
  /// All of it will be read: the disk may begin.
  void read_soon() const;
  /// io::checksum of its bytes.
  uint64_t checksum() const;

 private:
  std::string path_;
  int descriptor_ = -1;
  FileStamp stamp_;
};

}  // namespace mr::io
