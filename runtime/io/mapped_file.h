// A file's bytes as memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mr::io {

/// What tells one state of a file from another without reading it; times in nanoseconds since 1970.
struct FileStamp {
  int64_t size = 0;
  int64_t modified = 0;  // the content; programs that copy files set it back
  int64_t changed = 0;   // the content or anything else; nobody can set it
  bool operator==(const FileStamp&) const = default;
};

/// A regular file, mapped for reading. Throws with the path: missing, a folder, not a regular file, more than
/// max_bytes. Whoever cuts the file short meanwhile ends the program, as with any mapped file; a file that is replaced
/// by renaming keeps its old bytes here.
class MappedFile {
 public:
  MappedFile(const std::string& path, int64_t max_bytes);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return {start_, static_cast<size_t>(stamp_.size)}; }
  /// All of it will be read: the disk may begin.
  void read_soon() const;
  /// As of the opening; and whether it is still so.
  const FileStamp& stamp() const { return stamp_; }
  bool unchanged() const;

 private:
  int descriptor_ = -1;
  const char* start_ = nullptr;
  FileStamp stamp_;
};

}  // namespace mr::io
