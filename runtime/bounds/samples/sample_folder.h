// The folder of sample files in the user's cache, an LRU cache with a size limit. Reading and keeping samples does not
// throw, except on Ctrl-C: if a file cannot be read or written, its samples are not kept.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "runtime/bounds/distribution.h"
#include "runtime/io/processes/channel.h"

namespace mr {

/// Returns the size limit from MOONRANK_SAMPLES_GIB in bytes; 8 GiB if it is not set. Throws if it is not a number, 0
/// or more.
int64_t most_sample_bytes();

class SampleFolder {
 public:
  SampleFolder(std::filesystem::path folder, int64_t most_bytes);
  /// Returns the folder $XDG_CACHE_HOME/moonrank/samples with the limit of MOONRANK_SAMPLES_GIB, read on first use.
  static SampleFolder& of_user();

  bool is_open() const { return most_bytes_ > 0; }
  bool has(const std::string& key) const;
  /// Returns the distribution, or null if its file is missing or damaged. The file becomes the most recently used one.
  std::shared_ptr<const Distribution> find(const std::string& key) const;
  void keep(const std::string& key, const Distribution& distribution);

  /// The right to draw the samples of some rankings. `mine`: true if no other process or thread holds it, or if file
  /// locks are not available.
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
  std::optional<int64_t> written_;  // bytes written since old files were last removed; nothing before the first removal
  int64_t unfinished_ = 0;          // bytes of files that threads are writing now
};

}  // namespace mr
