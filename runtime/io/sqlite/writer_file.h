// The file NAME.writer, which names the process that writes the database NAME in a folder that several machines share.
//
// File locks do not work on every network file system, so this file is the lock. The writer creates it exclusively and
// rewrites its heartbeat every 15 seconds. The file is stale if
//   - its process ran on this machine and has ended, or
//   - its process ran on another machine and its last heartbeat is two minutes old by the file server's clock.
// A process that creates, replaces or removes NAME.writer first creates NAME.writer.claim exclusively, and then reads
// NAME.writer again. So of two processes that find the same stale file, only one replaces it. A claim lasts for
// milliseconds. A claim that is 10 seconds old belongs to a killed process and is removed.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <ctime>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace mr::io {

std::string utc_text(std::time_t time);

/// Returns true if a file system (`f_type` of statfs) is shared by several machines, or may be, such as FUSE.
bool is_shared_file_system(uint64_t type);
/// Returns true if a file of this name is, or would be, on a file system that several machines share.
bool on_shared_file_system(const std::string& path);

/// Returns a sentence about the writer of a database, safe to print: "process 12 on host 'a' has been writing it since
/// 2026-11-24 02:00:00 UTC". Returns nothing if the database has no file NAME.writer.
std::optional<std::string> writer_of(const std::string& database);

class WriterFile {
 public:
  /// Creates the file NAME.writer, or replaces a stale one. Throws std::runtime_error that names the writer if it is
  /// alive.
  explicit WriterFile(const std::string& database);
  /// Removes the file NAME.writer, unless another process has replaced it.
  ~WriterFile();
  WriterFile(const WriterFile&) = delete;
  WriterFile& operator=(const WriterFile&) = delete;

  /// Returns true if the file NAME.writer was removed, or replaced by another process.
  bool lost() const;

 private:
  void create();
  void write_text();
  void beat();

  std::string path_, database_, id_;
  int descriptor_ = -1;
  std::mutex guard_;
  std::condition_variable ends_;
  bool ended_ = false;
  std::thread beats_;
};

}  // namespace mr::io
