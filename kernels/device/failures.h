// Tracks GPU errors. An error is found only after the kernel that failed, and some errors break the GPU for good. This
// class remembers the last kernels, any of which may be the cause, and whether the GPU is lost.
#pragma once

#include <array>
#include <mutex>
#include <string>

namespace mr::cuda {

class Failures {
 public:
  /// Remembers a kernel that is about to be launched, as a possible cause of a later error. `type` is the name of its
  /// functor's type, with static lifetime.
  void note_launch(const char* type);
  /// Forgets all launched kernels. Call it when they have succeeded.
  void clear_launches();
  /// Returns the names of the last kernels that were launched since `clear_launches`, for the message of an error that
  /// one of them caused. Returns "" if none was launched.
  std::string suspects() const;

  /// Marks the GPU as lost, with its first cause; later causes are ignored.
  void lose(const std::string& cause);
  void require_not_lost() const;

 private:
  mutable std::mutex mutex_;
  std::array<const char*, 4> launches_{};
  size_t count_ = 0;
  std::string first_cause_;  // the error that made the GPU unusable; empty while the GPU works
};

}  // namespace mr::cuda
