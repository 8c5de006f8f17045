// Messages between two processes over a socket, each with a mark and its length before it; how a process ended; and
// files that one process at a time can lock.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "runtime/io/at_exit.h"

namespace mr::io {

class Channel {
 public:
  /// Takes over a socket.
  explicit Channel(int descriptor) : descriptor_(descriptor) {}
  ~Channel();
  Channel(Channel&& other) noexcept;
  Channel& operator=(Channel&& other) noexcept;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Writes as much as fits into the socket; `receive` writes the rest. False where the other end is closed.
  bool send(std::string_view message);
  /// True if a rest is left, for which `wait_for` can wait for room.
  bool unsent() const { return !unsent_.empty(); }
  /// The next complete message, or nothing. Does not wait.
  std::optional<std::string> receive();
  /// True if the other end is closed and all its messages were received, or what came is no message.
  bool ended() const { return ended_; }
  /// True if what came is no message: nothing that follows can be read.
  bool broken() const { return broken_; }
  int descriptor() const { return descriptor_; }

 private:
  std::optional<std::string> take();
  bool send_rest(int milliseconds);
  int descriptor_;
  std::string received_, unsent_;
  size_t sent_ = 0;  // of what is unsent, the bytes that were written
  bool ended_ = false, broken_ = false;
};

/// Waits until a message may have come on one of the sockets, until one of the `full` has room, or for so long; Ctrl-C
/// ends the wait.
void wait_for(const std::vector<int>& descriptors, double seconds, const std::vector<int>& full = {});

/// How a process ended ("exit status 1", "signal 9 (Killed)"), or nothing while it runs.
std::optional<std::string> how_it_ended(pid_t id, bool wait);

/// A file that one process at a time can lock; the system unlocks it when the process ends, however it ends.
class FileLock {
 public:
  enum class End { keep, remove };
  /// Nothing where another process has it. The file is created, with this process's number in it. With `remove` its
  /// end, also by os.exit, removes the file, its folder, and the folder of that one, as far as they are empty then.
  static std::optional<FileLock> take(const std::string& path, End end = End::keep);
  /// True if its file is still there: where someone removed it, another process can lock a new one.
  bool holds() const;
  ~FileLock();
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  void release() noexcept;
  int descriptor_;
  std::string removed_;  // at the end; empty: the file is kept
  std::unique_ptr<AtExit> at_exit_;
};

}  // namespace mr::io
