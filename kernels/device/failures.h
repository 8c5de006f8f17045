// Tracks GPU errors. Errors are found after the failed kernel, and some break the GPU for good: this class remembers
// which kernels may have caused an error and whether the GPU is lost.
#pragma once

#include <array>
#include <mutex>
#include <string>

namespace mr::cuda {

class Failures {
 public:
  /// Call before a kernel is launched. `type` is the name of its functor's type, with static lifetime.
  void note_launch(const char* type);
  /// Call when all launched kernels have succeeded.
  void clear_launches();
  /// The last kernels since `clear_launches`, one of which caused an error that is found now. "" if there is none.
  std::string suspects() const;

  /// Marks the GPU as lost. Only the first cause is kept.
  void lose(const std::string& cause);
  void require_not_lost() const;

 private:
  mutable std::mutex mutex_;
  std::array<const char*, 4> launches_{};
  size_t count_ = 0;
  std::string first_cause_;  // "" while the GPU is not lost
};

}  // namespace mr::cuda
