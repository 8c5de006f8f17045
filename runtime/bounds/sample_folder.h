// The folder of sample files in a user's cache, within a limit of bytes: the least recently used go first. Reading and
// keeping do not throw but for Ctrl-C: what cannot be read or written is not kept.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "runtime/bounds/distribution.h"
#include "runtime/io/channel.h"

namespace mr {

/// By MOONRANK_SAMPLES_GIB, 8 GiB where it is not set. Throws where it is no number from 0.
int64_t most_sample_bytes();

class SampleFolder {
 public:
  SampleFolder(std::filesystem::path folder, int64_t most_bytes);
  /// $XDG_CACHE_HOME/moonrank/samples with the limit of MOONRANK_SAMPLES_GIB, read when it is first asked for.
  static SampleFolder& of_user();

  /// True if the folder may keep anything.
  bool is_open() const { return most_bytes_ > 0; }
  bool has(const std::string& key) const;
  /// Null where it is not there or not as it was written; else it is the most recently used.
  std::shared_ptr<const Distribution> find(const std::string& key) const;
  void keep(const std::string& key, const Distribution& distribution);

  /// The turn to draw some rankings: `mine` if no other process or thread has it, or if locks are not available.
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
  std::optional<int64_t> written_;  // since files were last removed; none before
  int64_t unfinished_ = 0;          // of files that are being written
};

}  // namespace mr
