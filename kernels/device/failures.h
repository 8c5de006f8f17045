// Errors of the GPU are found late, and some break it for good: who may have caused one, and whether it was the last.
#pragma once

#include <array>
#include <mutex>
#include <string>

namespace mr::cuda {

class Failures {
 public:
  /// A kernel is about to be launched; `type` is the name of its functor's type, with static lifetime.
  void note_launch(const char* type);
  /// All that was launched went well.
  void clear_launches();
  /// The last kernels since then: one of them is to blame for an error that is found now. "" where there is none.
  std::string suspects() const;

  /// The GPU is lost, and of several causes the first one is told.
  void lose(const std::string& cause);
  /// Throws the first cause if the GPU is lost.
  void require_not_lost() const;

 private:
  mutable std::mutex mutex_;
  std::array<const char*, 4> launches_{};
  size_t count_ = 0;
  std::string first_cause_;  // "" while the GPU is not lost
};

}  // namespace mr::cuda
