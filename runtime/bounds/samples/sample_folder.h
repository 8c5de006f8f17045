// The folder in the user's cache with files of sampled metrics. The least recently used files are removed at a size
// limit. Reading and writing do not throw, except on Ctrl-C: a file that cannot be read counts as missing, and samples
// that cannot be written are not kept.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "runtime/bounds/distribution.h"
#include "runtime/io/processes/channel.h"

namespace mr {

/// Returns the size limit of the folder of samples in bytes. The environment variable MOONRANK_SAMPLES_GIB sets it; the
/// default is 8 GiB. Throws if the variable is not a number or is negative.
int64_t most_sample_bytes();

class SampleFolder {
 public:
  SampleFolder(std::filesystem::path folder, int64_t most_bytes);
  /// Returns the folder $XDG_CACHE_HOME/moonrank/samples. Its size limit is read from MOONRANK_SAMPLES_GIB at the first
  /// call.
  static SampleFolder& of_user();

  bool is_open() const { return most_bytes_ > 0; }
  bool has(const std::string& key) const;
  /// Returns the distribution with this key, or null if its file is missing or damaged. The file's time is set to now,
  /// so that it is the last one to be removed.
  std::shared_ptr<const Distribution> find(const std::string& key) const;
  void keep(const std::string& key, const Distribution& distribution);

  /// The right to draw the samples of some rankings, so that two processes do not draw the same samples. `mine` is true
  /// if this thread has the right, or if file locks are not available.
  struct Turn {
    bool mine = true;
    std::optional<io::FileLock> lock = {};
  };
  Turn take_turn(const std::string& rankings_key) const;

 private:
  std::filesystem::path path_of(const std::string& key) const;
  void make_room(int64_t bytes);
  void end_write(int64_t bytes);
  void remove_oldest(int64_t most) const;

  std::filesystem::path folder_;
  int64_t most_bytes_;
  std::mutex mutex_;
  std::optional<int64_t> written_;  // bytes written since files were last removed; no value before the first removal
  int64_t unfinished_ = 0;          // bytes of files that threads are writing now
};

}  // namespace mr
