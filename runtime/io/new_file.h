// Files that are written: whole or not at all, and never over a file of another writer.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace mr::io {

/// Why the regular file of this name, which is not empty, may not be replaced; "" where it may.
using Objection = std::function<std::string(const std::string& path)>;

/// For exports that a script names: any regular file may be replaced.
std::string replace_any(const std::string& path);

/// A file that replaces another, or a new one, when it is complete. Until then it is a temporary file beside it, with a
/// random name, locked, and deleted on any error. Those of writers that were killed, older than a minute and not
/// locked, are deleted when a process first writes into a folder, as far as they are among its first 10,000 names.
/// Where the name is a link, the file that it leads to is replaced. Throws std::runtime_error, "PATH: cannot write:
/// why".
class NewFile {
 public:
  /// Refused before anything is written: a folder, a pipe, a device, a link to nothing, a file that `objection` objects
  /// to. An empty file may always be replaced.
  explicit NewFile(std::string path, const Objection& objection);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::string_view bytes);
  /// Syncs it to the disk and renames it to its final name.
  void keep();
  /// For programs that write it themselves.
  const std::string& temporary() const { return temporary_; }

 private:
  [[noreturn]] void fail(const std::string& why) const;
  [[noreturn]] void fail_by_errno() const;
  void open_temporary();

  std::string path_;       // as given
  std::string target_;     // links followed
  std::string temporary_;  // empty: it was renamed or deleted
  int descriptor_ = -1;
  unsigned mode_ = 0666;
};

/// True if a file has the name of a temporary one.
bool is_temporary(std::string_view path);
/// Makes the folder that the file is to be in, and those above it. Throws std::runtime_error.
void make_folder_of(const std::string& path);

/// Syncs a folder, so that new names in it survive a power failure; not every file system supports it.
void sync_folder(const std::string& path);

/// All of a file at once.
void write_file(const std::string& path, const std::vector<std::string_view>& parts, const Objection& objection);

}  // namespace mr::io
