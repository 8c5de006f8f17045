// The file NAME.writer: which process writes the database NAME in a folder that several machines share.
//
// Locks of files do not hold on every network file system, so this file is the lock. Its writer creates it exclusively
// and rewrites its heartbeat every 15 seconds. The file is stale when
//   - its process is gone, if that ran on this machine, or
//   - its last heartbeat is two minutes old by the clock of the file server, if it ran on another machine.
// Whoever makes, replaces or removes NAME.writer first creates NAME.writer.claim exclusively and then reads NAME.writer
// again. So only one of two processes that find the same stale file replaces it. A claim lasts for milliseconds; one
// that does not change for 10 seconds belongs to a process that was killed, and is removed.
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

/// A time as people read it: "2026-11-24 02:00:00 UTC".
std::string utc_text(std::time_t time);

/// True if a file system (`f_type` of statfs) is shared by several machines, or may be, as FUSE.
bool is_shared_file_system(uint64_t type);
/// True if a file of this name is, or would be, on such a file system.
bool on_shared_file_system(const std::string& path);

/// A sentence, safe to show, about the writer of a database as its file names it: "process 12 on host 'a' writes it
/// since 2026-11-24 02:00:00 UTC". Nothing where the database has no such file.
std::optional<std::string> writer_of(const std::string& database);

class WriterFile {
 public:
  /// Makes the file, or replaces a stale one. A std::runtime_error names the writer that is alive.
  explicit WriterFile(const std::string& database);
  /// Removes the file if it is still of this object.
  ~WriterFile();
  WriterFile(const WriterFile&) = delete;
  WriterFile& operator=(const WriterFile&) = delete;

  /// True if the file was removed, or replaced by another writer's.
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
