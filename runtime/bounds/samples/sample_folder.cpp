#include "runtime/bounds/samples/sample_folder.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "kernels/core/threads.h"
#include "runtime/bounds/samples/sample_file.h"
#include "runtime/io/files/new_file.h"
#include "runtime/io/files/user_folder.h"

namespace mr {
namespace {

namespace fs = std::filesystem;

constexpr const char* limit_variable = "MOONRANK_SAMPLES_GIB";
/// Default size limit of the folder of samples, in GiB. The MovieLens half of scripts/thesis/table_5_1.lua needs 2.9
/// (594 list shapes, three metrics).
constexpr double usual_gib = 8;
constexpr const char* ending = ".samples";
/// The size of the folder of samples is measured again when 1 / parts_of_limit of the size limit has been written.
constexpr int64_t parts_of_limit = 32;
/// Temporary files older than this are removed: the process that wrote them was killed.
constexpr std::chrono::hours oldest_temporary{1};

/// Returns the folder in the user's cache in which files of sampled metrics are kept. Without a home folder the path is
/// empty, and no samples are kept.
fs::path folder_of_user() {
  try {
    return io::user_cache_folder() / "samples";
  } catch (const std::runtime_error&) {
    return {};
  }
}

struct OldFile {
  fs::file_time_type used;
  int64_t bytes;
  fs::path path;
};

bool is_ours(const fs::path& path) {
  try {
    return path.extension() == ending && is_sample_file(path.string());
  } catch (const std::runtime_error&) {
    return false;
  }
}

}  // namespace

int64_t most_sample_bytes() {
  const char* const text = std::getenv(limit_variable);
  if (text == nullptr || *text == '\0') return static_cast<int64_t>(usual_gib * 0x1p30);
  char* end = nullptr;
  const double gib = std::strtod(text, &end);
  if (*end != '\0' || !(gib >= 0 && gib <= 1e6))
    throw std::runtime_error(std::string(limit_variable) + " is '" + text +
                             "', expected a number of GiB, 0 or more (0 keeps no samples)");
  return static_cast<int64_t>(gib * 0x1p30);
}

SampleFolder::SampleFolder(fs::path folder, int64_t most_bytes)
    : folder_(std::move(folder)), most_bytes_(folder_.empty() ? 0 : most_bytes) {}

SampleFolder& SampleFolder::of_user() {
  static SampleFolder folder(folder_of_user(), most_sample_bytes());
  return folder;
}

fs::path SampleFolder::path_of(const std::string& key) const { return folder_ / (key + ending); }

bool SampleFolder::has(const std::string& key) const {
  std::error_code unknown;
  return fs::exists(path_of(key), unknown);
}

std::shared_ptr<const Distribution> SampleFolder::find(const std::string& key) const {
  const fs::path path = path_of(key);
  std::optional<Distribution> found = read_sample_file(path.string(), key);
  if (!found) return nullptr;
  // receives an error, for example if the file belongs to another user; the file's time is then not updated
  std::error_code unchanged;
  fs::last_write_time(path, fs::file_time_type::clock::now(), unchanged);
  return std::make_shared<const Distribution>(std::move(*found));
}

void SampleFolder::keep(const std::string& key, const Distribution& distribution) {
  const int64_t bytes = sample_file_bytes(distribution);
  if (bytes > most_bytes_) return;
  make_room(bytes);
  try {
    // receives an error, which is ignored: if the folder cannot be made, writing the file fails too
    std::error_code unmade;
    fs::create_directories(folder_, unmade);
    write_sample_file(path_of(key).string(), key, distribution);
  } catch (const cpu::Interrupted&) {
    end_write(bytes);
    throw;
  } catch (const std::runtime_error&) {
    // The file of samples cannot be written, for example on a full disk or in a read-only folder. The samples are then
    // not kept.
  }
  end_write(bytes);
}

/// Removes old files if a new file of `bytes` bytes would exceed the folder's size limit. Files that other threads are
/// writing now count too.
void SampleFolder::make_room(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  const int64_t room = std::max(bytes, most_bytes_ / parts_of_limit);
  if (!written_ || *written_ + bytes > room) {
    remove_oldest(most_bytes_ - room - unfinished_);
    written_ = 0;
  }
  *written_ += bytes;
  unfinished_ += bytes;
}

void SampleFolder::end_write(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  unfinished_ -= bytes;
}

/// Removes the least recently used files of samples until at most `most` bytes remain. Also removes temporary files of
/// killed processes.
void SampleFolder::remove_oldest(int64_t most) const {
  std::vector<OldFile> files;
  int64_t sum = 0;
  std::error_code unknown;
  const auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator at(folder_, unknown), end; !unknown && at != end; at.increment(unknown)) {
    std::error_code gone;
    if (!at->is_regular_file(gone)) continue;
    const OldFile file{at->last_write_time(gone), static_cast<int64_t>(at->file_size(gone)), at->path()};
    if (gone) continue;
    if (io::is_temporary(file.path.string()) && now - file.used > oldest_temporary) fs::remove(file.path, gone);
    if (!is_ours(file.path)) continue;
    sum += file.bytes;
    files.push_back(file);
  }
  std::sort(files.begin(), files.end(), [](const OldFile& a, const OldFile& b) { return a.used < b.used; });
  for (size_t i = 0; i < files.size() && sum > most; ++i) {
    if (fs::remove(files[i].path, unknown)) sum -= files[i].bytes;
  }
}

SampleFolder::Turn SampleFolder::take_turn(const std::string& rankings_key) const {
  try {
    // There are at most 256 lock files. If two list shapes share a lock file, their samples are drawn one after the
    // other.
    const fs::path locks = folder_ / "locks";
    std::error_code unmade;
    fs::create_directories(locks, unmade);
    std::optional<io::FileLock> lock = io::FileLock::take((locks / rankings_key.substr(0, 2)).string());
    const bool mine = lock.has_value();
    return {mine, std::move(lock)};
  } catch (const std::runtime_error&) {
    return {};
  }
}

}  // namespace mr
