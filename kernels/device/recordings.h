// Recordings of queued GPU work. Freeing a recording waits for the GPU, and waiting would invalidate a recording that
// is open at that time. So a recording that is released while another one is open, for example by the garbage
// collector, is freed when the open one ends.
#pragma once

#include <memory>

#include "kernels/device/driver.h"
#include "kernels/device/memory_pool.h"

namespace mr::cuda {

class Recordings {
 public:
  /// `pool` is the pool of device memory that reserves the memory of recordings.
  explicit Recordings(Pool& pool);
  ~Recordings();
  Recordings(const Recordings&) = delete;
  Recordings& operator=(const Recordings&) = delete;

  bool is_open() const { return open_; }
  /// Throws if a recording is open. Operations that read a result of the GPU call it, because recorded work has not
  /// run yet.
  void refuse_while_open() const;
  void begin(Driver& driver);
  /// Ends the recording and returns it, or null if the queued work cannot be run again.
  std::unique_ptr<Capture> end(Driver& driver);

 private:
  struct Node;
  class Owned;
  void free_retired() noexcept;

  Pool& pool_;
  bool open_ = false;
  // recordings that were released while another one was open; freed when the open one ends
  std::unique_ptr<Node> retired_;
};

}  // namespace mr::cuda
