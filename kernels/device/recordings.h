// Recordings of what is queued. To free one waits for the GPU, which would spoil another that is open then, as it may
// be when the collector frees an old one: that happens at the end of the open one.
#pragma once

#include <memory>

#include "kernels/device/driver.h"
#include "kernels/device/memory_pool.h"

namespace mr::cuda {

class Recordings {
 public:
  /// Their memory stays with them in the pool.
  explicit Recordings(Pool& pool);
  ~Recordings();
  Recordings(const Recordings&) = delete;
  Recordings& operator=(const Recordings&) = delete;

  bool is_open() const { return open_; }
  /// Throws while one is open: the work would have to be done before its result can be looked at.
  void refuse_while_open() const;
  void begin(Driver& driver);
  /// Null where what was queued cannot be run again.
  std::unique_ptr<Capture> end(Driver& driver);

 private:
  struct Node;
  class Owned;
  void free_retired() noexcept;

  Pool& pool_;
  bool open_ = false;
  std::unique_ptr<Node> retired_;  // freed while another was open
};

}  // namespace mr::cuda
