// Writes files atomically: completely or not at all, and never over a file of another format.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace mr::io {

/// A function that returns why an existing, non-empty file must not be replaced, or "" if it may be replaced.
using Objection = std::function<std::string(const std::string& path)>;

/// An Objection for exports to a path that a script names: returns "", because any regular file may be replaced.
std::string replace_any(const std::string& path);

/// Writes a temporary file that becomes the named file when it is complete. The temporary file is in the same folder,
/// has a random name, is locked, and is deleted on any error. Abandoned temporary files (older than a minute and not
/// locked) are deleted when a process first writes into a folder, if they are among its first 10,000 names. If the name
/// is a link, its target is replaced. Throws std::runtime_error, "PATH: cannot write: why".
class NewFile {
 public:
  /// Throws before anything is written if the name is a folder, a pipe, a device, a dangling link, or a file that
  /// `objection` objects to. An empty file may always be replaced.
  explicit NewFile(std::string path, const Objection& objection);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::string_view bytes);
  /// Syncs the temporary file to the disk and renames it to its final name.
  void keep();
  /// Returns the path of the temporary file, for external programs that write it.
  const std::string& temporary() const { return temporary_; }

 private:
  [[noreturn]] void fail(const std::string& why) const;
  [[noreturn]] void fail_by_errno() const;
  void open_temporary();

  std::string path_;       // path of the file, as the caller gave it
  std::string target_;     // path of the file with links resolved
  std::string temporary_;  // path of the temporary file; empty after it was renamed or deleted
  int descriptor_ = -1;
  unsigned mode_ = 0666;
};

/// Returns true if a name has the form of a temporary file.
bool is_temporary(std::string_view path);
/// Makes the file's folder and its parents. Throws std::runtime_error.
void make_folder_of(const std::string& path);

/// Syncs a folder, so that new names in it survive a power failure. Not every file system supports it.
void sync_folder(const std::string& path);

void write_file(const std::string& path, const std::vector<std::string_view>& parts, const Objection& objection);

}  // namespace mr::io
