#include "runtime/io/files/new_file.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "runtime/io/files/regular_file.h"

namespace mr::io {
namespace {

constexpr int most_names = 10'000;

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

std::string random_name() {
  uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number)
    throw std::runtime_error("the system gives no random numbers, which the name of a temporary file needs");
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), ".moonrank-%016llx.tmp", static_cast<unsigned long long>(number));
  return text.data();
}

/// Returns true if a temporary file was left behind by a process that was killed: it is not locked and older than a
/// minute. The age matters because locks do not work on some network folders.
bool is_abandoned(const std::string& path, int file) {
  constexpr std::chrono::seconds oldest{60};
  std::error_code unknown;
  const auto written = std::filesystem::last_write_time(path, unknown);
  struct stat there {};
  return !unknown && std::filesystem::file_time_type::clock::now() - written > oldest && fstat(file, &there) == 0 &&
         S_ISREG(there.st_mode) && flock(file, LOCK_EX | LOCK_NB) == 0;
}

/// Removes temporary files that killed processes left in a folder. It looks only at the first `most_names` files,
/// because listing a huge folder is slow.
void remove_abandoned(const std::string& folder) {
  struct Close {
    void operator()(DIR* opened) const { closedir(opened); }
  };
  const std::unique_ptr<DIR, Close> names(opendir(folder.c_str()));
  for (int i = 0; names && i < most_names; ++i) {
    const dirent* const entry = readdir(names.get());
    if (entry == nullptr) return;
    if (!is_temporary(entry->d_name)) continue;
    const std::string path = folder + "/" + entry->d_name;
    const int file = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);  // NOLINT: open is variadic
    if (file < 0) continue;
    if (is_abandoned(path, file)) std::remove(path.c_str());
    close(file);
  }
}

/// Returns true if this process has not written into this folder before.
bool is_first_in(const std::string& folder) {
  static std::mutex guard;
  static std::set<std::string> known;
  const std::lock_guard lock(guard);
  return known.insert(std::filesystem::absolute(folder).string()).second;
}

}  // namespace

bool is_temporary(std::string_view path) {
  const size_t slash = path.rfind('/');
  const std::string_view name = path.substr(slash == std::string_view::npos ? 0 : slash + 1);
  return name.starts_with(".moonrank-") && name.ends_with(".tmp");
}

std::string replace_any(const std::string&) { return ""; }

void make_folder_of(const std::string& path) {
  need_path(path);
  std::error_code unmade;
  std::filesystem::create_directories(folder_of(path), unmade);
  if (unmade) throw std::runtime_error(path + ": cannot write: its folder cannot be made: " + unmade.message());
}

void sync_folder(const std::string& path) {
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);  // NOLINT: open is variadic
  if (folder < 0) return;
  fsync(folder);
  close(folder);
}

void NewFile::fail(const std::string& why) const { throw std::runtime_error(path_ + ": cannot write: " + why); }
void NewFile::fail_by_errno() const { fail(std::strerror(errno)); }

NewFile::NewFile(std::string path, const Objection& objection) : path_(std::move(path)), target_(path_) {
  need_path(path_);
  struct stat there {};
  if (stat(path_.c_str(), &there) == 0) {
    if (S_ISDIR(there.st_mode)) fail("it is a folder");
    if (!S_ISREG(there.st_mode)) fail("it is not a regular file");
    if (const std::string why = there.st_size > 0 ? objection(path_) : ""; !why.empty()) fail(why);
    std::error_code unknown;
    target_ = std::filesystem::canonical(path_, unknown).string();
    if (unknown) fail(unknown.message());
    mode_ = there.st_mode & 0777U;
  } else if (errno != ENOENT) {
    fail_by_errno();
  } else if (lstat(path_.c_str(), &there) == 0) {
    fail("it is a link to a file that does not exist");
  }
  open_temporary();
}

void NewFile::open_temporary() {
  const std::string folder = folder_of(target_);
  if (is_first_in(folder)) remove_abandoned(folder);
  const bool replaces = target_ != path_ || access(target_.c_str(), F_OK) == 0;
  for (int tries = 0; descriptor_ < 0; ++tries) {
    temporary_ = folder + "/" + random_name();
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    descriptor_ = open(temporary_.c_str(), flags, 0666);  // NOLINT: open is variadic
    if (descriptor_ >= 0 || (errno == EEXIST && tries < 10)) continue;
    temporary_.clear();
    fail_by_errno();
  }
  // the lock tells other processes, which delete abandoned temporary files, that this one is in use
  flock(descriptor_, LOCK_EX | LOCK_NB);
  if (replaces) fchmod(descriptor_, mode_);  // the new file gets the permissions of the file that it replaces
}

NewFile::~NewFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) std::remove(temporary_.c_str());
}

void NewFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(descriptor_, bytes.data(), bytes.size());
    if (n < 0 && errno != EINTR) fail_by_errno();
    if (n > 0) bytes.remove_prefix(static_cast<size_t>(n));
  }
}

void NewFile::keep() {
  if (fsync(descriptor_) != 0 && errno != EINVAL) fail_by_errno();
  const bool closed = close(std::exchange(descriptor_, -1)) == 0;
  if (!closed || std::rename(temporary_.c_str(), target_.c_str()) != 0) fail_by_errno();
  temporary_.clear();
  sync_folder(folder_of(target_));
}

void write_file(const std::string& path, const std::vector<std::string_view>& parts, const Objection& objection) {
  NewFile file(path, objection);
  for (const std::string_view part : parts) file.write(part);
  file.keep();
}

}  // namespace mr::io
