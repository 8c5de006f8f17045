// Messages between two processes over a socket (each with a mark and a length), exit states, and lock files.
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
  /// Takes ownership of a socket, which is this process's end of the channel.
  explicit Channel(int descriptor) : descriptor_(descriptor) {}
  ~Channel();
  Channel(Channel&& other) noexcept;
  Channel& operator=(Channel&& other) noexcept;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Sends a message: writes as much as fits into the socket; `receive` writes the rest. Returns false if the other end
  /// is closed.
  bool send(std::string_view message);
  /// Returns true if a part of a message is unsent. `wait_for` can wait for room for it.
  bool unsent() const { return !unsent_.empty(); }
  /// Returns the next complete message, or nothing. It does not wait.
  std::optional<std::string> receive();
  /// Returns true if the other end is closed and all its messages were received, or if the channel is broken.
  bool ended() const { return ended_; }
  /// Returns true if invalid data was received. Nothing more can be read.
  bool broken() const { return broken_; }
  int descriptor() const { return descriptor_; }

 private:
  std::optional<std::string> take();
  bool send_rest(int milliseconds);
  int descriptor_;
  std::string received_, unsent_;
  size_t sent_ = 0;  // number of bytes of `unsent_` that were sent
  bool ended_ = false, broken_ = false;
};

/// Waits until a message may have arrived on one of the sockets, one of the sockets `full` has room, the time is over,
/// or Ctrl-C is pressed.
void wait_for(const std::vector<int>& descriptors, double seconds, const std::vector<int>& full = {});

/// Returns how a process ended ("exit status 1", "signal 9 (Killed)"), or nothing while it runs.
std::optional<std::string> how_it_ended(pid_t id, bool wait);

/// A file lock, which one process at a time can hold. The system releases it when the process ends in any way.
class FileLock {
 public:
  enum class End { keep, remove };
  /// Takes the lock; returns nothing if another process holds it. The file is created with this process's number in it.
  /// With `remove`, releasing the lock, also by os.exit, removes the file, its folder and that folder's parent, if they
  /// are then empty.
  static std::optional<FileLock> take(const std::string& path, End end = End::keep);
  /// Returns true if the locked file was not removed. After that, another process can lock a new file at this path.
  bool holds() const;
  ~FileLock();
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  void release() noexcept;
  int descriptor_;
  std::string removed_;  // path of the lock file to remove at the end; empty: the file is not removed
  std::unique_ptr<AtExit> at_exit_;
};

}  // namespace mr::io
