// Two processes that talk: messages of bytes over a socket, each with its length before it; and the programs at its
// other end, started afresh and without a shell.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

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

  /// Waits until it is written; false where the other end is gone.
  bool send(std::string_view message);
  /// The next message, or nothing where none is whole yet. Does not wait.
  std::optional<std::string> receive();
  /// Whether the other end is gone and every message of it was received.
  bool ended() const { return ended_; }
  int descriptor() const { return descriptor_; }

 private:
  std::optional<std::string> take();
  int descriptor_;
  std::string received_;
  bool ended_ = false;
};

/// Waits until a message may have come on one of the sockets, or for so long; Ctrl-C ends the wait.
void wait_for(const std::vector<int>& descriptors, double seconds);

struct Started {
  Channel channel;
  pid_t id;
};

/// Starts this very program again, in a process group of its own, with these words as its command line and with these
/// variables ("NAME=VALUE") beside our own, but for those of an MPI launcher. It finds the other end of the channel
/// through `worker_end`; what it prints is added to the file `log`.
Started start_worker(const std::vector<std::string>& words, const std::string& log,
                     const std::vector<std::string>& added = {});
/// In a process that `start_worker` started, the channel to the one that did, once; nothing elsewhere. From then on the
/// process ends with its parent, and what it starts itself does not inherit the channel.
std::optional<Channel> worker_end();

/// How a process ended ("exit status 1", "signal 9 (Killed)"), or nothing while it runs.
std::optional<std::string> how_it_ended(pid_t id, bool wait);

/// A file that one process at a time can hold; the system lets go of it when the process ends, however it does.
class FileLock {
 public:
  /// Nothing where another process holds it. The file is made, with our process's number in it.
  static std::optional<FileLock> take(const std::string& path);
  ~FileLock();
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace mr::io
