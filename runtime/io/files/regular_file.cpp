#include "runtime/io/files/regular_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "kernels/core/scratch.h"
#include "kernels/core/threads.h"
#include "runtime/io/files/checksum.h"

namespace mr::io {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& text) {
  throw std::runtime_error(path + ": " + text);
}

FileStamp stamp_of(const struct stat& s) {
  const auto nanoseconds = [](const timespec& t) { return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec; };
  return {s.st_size, nanoseconds(s.st_mtim), nanoseconds(s.st_ctim)};
}

void need_regular(const std::string& path, const struct stat& s) {
  if (S_ISDIR(s.st_mode)) fail(path, "is a folder, expected a file");
  if (!S_ISREG(s.st_mode)) fail(path, "is not a regular file (a pipe or a device), expected a file with a size");
}

}  // namespace

void need_path(const std::string& path) {
  const size_t end = path.find('\0');
  if (end != std::string::npos)
    fail(path.substr(0, end), "the name goes on after this with a zero byte, expected the name of a file without one");
}

void need_regular(const std::string& path) {
  need_path(path);
  struct stat s {};
  if (stat(path.c_str(), &s) == 0) return need_regular(path, s);
  if (errno == ELOOP || errno == ENAMETOOLONG) fail(path, std::strerror(errno));
  if (errno == ENOENT && lstat(path.c_str(), &s) == 0) fail(path, "is a link to a file that does not exist");
}

RegularFile::RegularFile(const std::string& path, int64_t max_bytes) : path_(path) {
  // Opening a device may have side effects, so the type of the file is checked before it is opened. It is checked again
  // afterwards, because the file may have been replaced meanwhile.
  need_regular(path);
  descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);  // NOLINT: open is variadic
  if (descriptor_ < 0) fail(path, std::string("cannot read: ") + std::strerror(errno));
  try {
    struct stat now {};
    if (fstat(descriptor_, &now) != 0) fail(path, std::string("cannot read: ") + std::strerror(errno));
    need_regular(path, now);
    stamp_ = stamp_of(now);
    if (stamp_.size > max_bytes)
      fail(path, "has " + std::to_string(stamp_.size) + " bytes, the limit is " + std::to_string(max_bytes));
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

RegularFile::~RegularFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

RegularFile::RegularFile(RegularFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)), stamp_(other.stamp_) {}

bool RegularFile::unchanged() const {
  struct stat now {};
  return fstat(descriptor_, &now) == 0 && stamp_of(now) == stamp_;
}

void RegularFile::read(int64_t at, void* target, int64_t bytes) const {
  for (int64_t done = 0; done < bytes;) {
    const ssize_t n =
        pread(descriptor_, static_cast<char*>(target) + done, static_cast<size_t>(bytes - done), at + done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(path_, std::string("cannot read: ") + std::strerror(errno));
    if (n == 0 && at + bytes <= stamp_.size)
      fail(path_, "was cut short while it was read: it had " + std::to_string(stamp_.size) + " bytes");
    if (n == 0)
      fail(path_, "ends after " + std::to_string(stamp_.size) + " bytes, expected " + std::to_string(at + bytes));
    done += n;
  }
}

void RegularFile::read_soon() const { posix_fadvise(descriptor_, 0, 0, POSIX_FADV_WILLNEED); }

uint64_t RegularFile::checksum() const {
  std::vector<uint64_t> blocks(static_cast<size_t>((size() + checksum_block - 1) / checksum_block));
  cpu::parallel_each(static_cast<int64_t>(blocks.size()), 1, [&](size_t i) {
    static constinit thread_local cpu::OfThread<std::vector<char>> the_block;
    std::vector<char>& block = the_block.get();
    block.resize(checksum_block);
    const int64_t first = static_cast<int64_t>(i) * checksum_block, length = std::min(checksum_block, size() - first);
    read(first, block.data(), length);
    blocks[i] = xxh64({block.data(), static_cast<size_t>(length)});
  });
  return checksum_of_blocks(blocks);
}

}  // namespace mr::io
