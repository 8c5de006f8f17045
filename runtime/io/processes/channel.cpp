#include "runtime/io/processes/channel.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <stdexcept>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "runtime/io/files/regular_file.h"

namespace mr::io {
namespace {

constexpr uint64_t largest = uint64_t{1} << 31;  // largest number of bytes of a message
// largest number of bytes of a lock file, which contains a process number
constexpr int64_t most_lock_bytes = 32;
// milliseconds that a send waits for room in the socket; later calls send the rest of the message
constexpr int patience = 100;

/// The header of a message. Its mark detects other data that was written into the socket.
struct Header {
  std::array<char, 8> mark{'m', 'r', ' ', 'f', 'r', 'a', 'm', 'e'};
  uint64_t size = 0;
};

/// Removes a lock's file while the lock is held, unless another file has its name now. Also removes its folder and that
/// folder's parent if they are empty. It shortens `path` in place, because a copy would allocate.
void remove_lock(int descriptor, std::string& path) noexcept {
  struct stat held {
  }, named{};
  if (fstat(descriptor, &held) != 0 || lstat(path.c_str(), &named) != 0 || held.st_ino != named.st_ino) return;
  unlink(path.c_str());
  const size_t inner = path.rfind('/');
  const size_t outer = inner == std::string::npos ? inner : path.rfind('/', inner - 1);
  if (outer == std::string::npos) return;
  path.resize(inner);
  if (rmdir(path.c_str()) != 0) return;
  path.resize(outer);
  rmdir(path.c_str());
}

/// Returns true if a file can be a lock: it is empty or contains a process number.
bool is_lock(int descriptor) {
  std::array<char, most_lock_bytes + 1> held{};
  const ssize_t bytes = pread(descriptor, held.data(), held.size(), 0);
  return bytes >= 0 && bytes <= most_lock_bytes &&
         std::all_of(held.data(), held.data() + bytes, [](char c) { return (c >= '0' && c <= '9') || c == '\n'; });
}

bool wait_until(int descriptor, short what, int milliseconds) {
  pollfd one{descriptor, what, 0};
  return poll(&one, 1, milliseconds) > 0;
}

void close_one(int descriptor) {
  if (descriptor >= 0) close(descriptor);
}

}  // namespace

Channel::~Channel() { close_one(descriptor_); }
Channel::Channel(Channel&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      received_(std::move(other.received_)),
      unsent_(std::move(other.unsent_)),
      sent_(other.sent_),
      ended_(other.ended_),
      broken_(other.broken_) {}
Channel& Channel::operator=(Channel&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(received_, other.received_);
  std::swap(unsent_, other.unsent_);
  std::swap(sent_, other.sent_);
  std::swap(ended_, other.ended_);
  std::swap(broken_, other.broken_);
  return *this;
}

bool Channel::send(std::string_view message) {
  Header header;
  header.size = message.size();
  if (header.size > largest) {
    throw std::runtime_error("a message of " + std::to_string(header.size) + " bytes is too large, expected at most " +
                             std::to_string(largest));
  }
  const size_t before = unsent_.size();
  unsent_.resize(before + sizeof header);
  std::memcpy(unsent_.data() + before, &header, sizeof header);
  unsent_ += message;
  return send_rest(patience);
}

bool Channel::send_rest(int milliseconds) {
  bool reachable = true;
  while (reachable && sent_ < unsent_.size()) {
    const ssize_t count =
        ::send(descriptor_, unsent_.data() + sent_, unsent_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) {
      sent_ += static_cast<size_t>(count);
    } else if (errno == EAGAIN) {
      // Waits only for a limited time: the other process may be stopped.
      if (!wait_until(descriptor_, POLLOUT, milliseconds)) break;
    } else {
      reachable = errno == EINTR;
    }
  }
  // Drops the bytes that were sent only when they are more than half of the message, because dropping moves the unsent
  // bytes.
  if (!reachable || 2 * sent_ > unsent_.size()) unsent_.erase(0, reachable ? std::exchange(sent_, 0) : unsent_.size());
  if (unsent_.empty()) sent_ = 0;
  return reachable;
}

std::optional<std::string> Channel::take() {
  Header header;
  const Header expected;
  if (received_.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, received_.data(), sizeof header);
  if (header.mark != expected.mark || header.size > largest) {
    broken_ = ended_ = true;
    received_.clear();
    return std::nullopt;
  }
  if (received_.size() - sizeof header < header.size) return std::nullopt;
  std::string message = received_.substr(sizeof header, header.size);
  received_.erase(0, sizeof header + header.size);
  return message;
}

std::optional<std::string> Channel::receive() {
  if (!unsent_.empty()) send_rest(0);
  while (!broken_) {
    if (std::optional<std::string> message = take()) return message;
    if (ended_) return std::nullopt;
    std::array<char, 65536> buffer;
    const ssize_t count = recv(descriptor_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count > 0) {
      received_.append(buffer.data(), static_cast<size_t>(count));
    } else if (count < 0 && errno == EAGAIN) {
      return std::nullopt;
    } else if (count == 0 || errno != EINTR) {
      ended_ = true;
    }
  }
  return std::nullopt;
}

void wait_for(const std::vector<int>& descriptors, double seconds, const std::vector<int>& full) {
  std::vector<pollfd> all;
  for (const int each : descriptors) all.push_back({each, POLLIN, 0});
  for (const int each : full) all.push_back({each, POLLOUT, 0});
  poll(all.data(), all.size(), static_cast<int>(seconds * 1000));
}

std::optional<std::string> how_it_ended(pid_t id, bool wait) {
  int status = 0;
  pid_t found = 0;
  do {
    found = waitpid(id, &status, wait ? 0 : WNOHANG);
  } while (found < 0 && errno == EINTR);
  if (found == 0) return std::nullopt;
  if (found < 0) return "no such process";
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    return "signal " + std::to_string(number) + " (" + strsignal(number) + ")";
  }
  return "exit status " + std::to_string(WEXITSTATUS(status));
}

std::optional<FileLock> FileLock::take(const std::string& path, End end) {
  need_regular(path);
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
  if (descriptor < 0) throw std::runtime_error(path + " cannot be written: " + std::strerror(errno));
  FileLock lock(descriptor);
  if (!is_lock(descriptor))
    throw std::runtime_error(path + " is not a lock file: it holds more than a number. It is not changed; move it");
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) return std::nullopt;
  // The previous holder of the lock removed the file after this process had opened it.
  if (!lock.holds()) return std::nullopt;
  const std::string id = std::to_string(getpid()) + "\n";
  // The process number in the lock file is for people to read, so a full disk is not an error here.
  const bool written = ftruncate(descriptor, 0) == 0 && write(descriptor, id.data(), id.size()) > 0;
  static_cast<void>(written);
  if (end == End::remove) {
    lock.removed_ = std::filesystem::absolute(path).string();
    lock.at_exit_ =
        std::make_unique<AtExit>([descriptor, file = lock.removed_]() mutable { remove_lock(descriptor, file); });
  }
  return lock;
}

bool FileLock::holds() const {
  struct stat there {};
  return fstat(descriptor_, &there) == 0 && there.st_nlink > 0;
}

void FileLock::release() noexcept {
  at_exit_.reset();
  if (!removed_.empty()) remove_lock(descriptor_, removed_);
  removed_.clear();
  close_one(descriptor_);
}

FileLock::~FileLock() { release(); }
FileLock::FileLock(FileLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      removed_(std::exchange(other.removed_, std::string())),
      at_exit_(std::move(other.at_exit_)) {}
FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(removed_, other.removed_);
  std::swap(at_exit_, other.at_exit_);
  return *this;
}

}  // namespace mr::io
