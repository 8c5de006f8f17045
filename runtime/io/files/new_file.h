// Writes files atomically: completely or not at all, and never over a file of another format.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace mr::io {

/// A function that decides whether an existing, non-empty file may be replaced. It returns "" if it may, else the
/// reason why not.
using Objection = std::function<std::string(const std::string& path)>;

/// An Objection (a function that may forbid to replace a file) that always returns "". It is for files whose path a
/// script names: any regular file may be replaced.
std::string replace_any(const std::string& path);

/// Writes a file atomically: first to a temporary file, which gets the file's name when it is complete. The temporary
/// file is in the same folder, has a random name, is locked, and is deleted on any error. If the name is a link, the
/// link's target is replaced. Throws std::runtime_error, "PATH: cannot write: why".
///
/// When a process first writes into a folder, abandoned temporary files (older than a minute and not locked) among its
/// first 10,000 names are deleted.
class NewFile {
 public:
  /// Creates the temporary file. Throws if the name is a folder, a pipe, a device or a dangling link, or if `objection`
  /// forbids to replace the file. An empty file may always be replaced.
  explicit NewFile(std::string path, const Objection& objection);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::string_view bytes);
  /// Completes the file: writes the temporary file to the disk and renames it to the file's name.
  void keep();
  /// Returns the path of the temporary file, for a library that writes to it itself.
  const std::string& temporary() const { return temporary_; }

 private:
  [[noreturn]] void fail(const std::string& why) const;
  [[noreturn]] void fail_by_errno() const;
  void open_temporary();

  std::string path_;       // path of the file, as the caller gave it
  std::string target_;     // path of the file, with symbolic links resolved
  std::string temporary_;  // path of the temporary file; empty after it was renamed or deleted
  int descriptor_ = -1;
  unsigned mode_ = 0666;
};

/// Returns true if the name of a file has the form of the temporary files that NewFile makes.
bool is_temporary(std::string_view path);
/// Creates the folder in which the file `path` is, and its parents. Throws std::runtime_error if they cannot be made.
void make_folder_of(const std::string& path);

/// Writes a folder's list of names to the disk, so that new files in it survive a power failure. Some file systems do
/// not support this; errors are ignored.
void sync_folder(const std::string& path);

void write_file(const std::string& path, const std::vector<std::string_view>& parts, const Objection& objection);

}  // namespace mr::io
