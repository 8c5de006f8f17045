#include "runtime/io/mapped_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mr::io {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& text) {
  throw std::runtime_error(path + ": " + text);
}

FileStamp stamp_of(const struct stat& s) {
  const auto nanoseconds = [](const timespec& t) { return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec; };
  return {s.st_size, nanoseconds(s.st_mtim), nanoseconds(s.st_ctim)};
}

/// Opening a pipe would wait for who writes to it: so look before.
void need_regular(const std::string& path) {
  std::error_code unreadable;
  const auto kind = std::filesystem::status(path, unreadable).type();
  if (kind == std::filesystem::file_type::directory) fail(path, "is a folder, expected a file");
  if (kind != std::filesystem::file_type::regular && std::filesystem::exists(path, unreadable)) {
    fail(path, "is not a regular file (its size is not known), expected one");
  }
}

}  // namespace

MappedFile::MappedFile(const std::string& path, int64_t max_bytes) {
  need_regular(path);
  descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);  // NOLINT: open is variadic
  if (descriptor_ < 0) fail(path, std::string("cannot read: ") + std::strerror(errno));
  struct stat now {};
  const bool known = fstat(descriptor_, &now) == 0;
  stamp_ = stamp_of(now);
  void* start = nullptr;
  if (known && stamp_.size > 0 && stamp_.size <= max_bytes) {
    start = mmap(nullptr, static_cast<size_t>(stamp_.size), PROT_READ, MAP_PRIVATE, descriptor_, 0);
  }
  if (!known || start == MAP_FAILED || stamp_.size > max_bytes) {
    const std::string why = std::strerror(errno);
    close(descriptor_);
    if (known && stamp_.size > max_bytes)
      fail(path, "has " + std::to_string(stamp_.size) + " bytes, the limit is " + std::to_string(max_bytes));
    fail(path, "cannot read: " + why);
  }
  start_ = static_cast<const char*>(start);
}

MappedFile::~MappedFile() {
  if (start_ != nullptr) munmap(const_cast<char*>(start_), static_cast<size_t>(stamp_.size));  // NOLINT: munmap's type
  close(descriptor_);
}

void MappedFile::read_soon() const {
  if (start_ == nullptr) return;
  madvise(const_cast<char*>(start_), static_cast<size_t>(stamp_.size), MADV_WILLNEED);  // NOLINT: madvise's type
}

bool MappedFile::unchanged() const {
  struct stat now {};
  return fstat(descriptor_, &now) == 0 && stamp_of(now) == stamp_;
}

}  // namespace mr::io
