#include "kernels/device/recordings.h"

#include <stdexcept>
#include <utility>

namespace mr::cuda {

/// A recording of GPU work (a CUDA graph) as a node of the linked list of recordings to be freed later. It contains its
/// own link, so that a recording can be released without an allocation.
struct Recordings::Node {
  explicit Node(Pool& its_pool) : pool(its_pool) {}
  ~Node() {
    work.reset();
    if (memory != 0) pool.forget(memory);
  }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  Pool& pool;
  uint64_t memory = 0;  // number by which the memory pool knows this recording; 0: nothing was recorded
  std::unique_ptr<Capture> work;
  std::unique_ptr<Node> next;
};

class Recordings::Owned : public Capture {
 public:
  Owned(Recordings& from, std::unique_ptr<Node> node) : from_(from), node_(std::move(node)) {}
  ~Owned() override {
    if (!from_.open_) return;
    node_->next = std::move(from_.retired_);
    from_.retired_ = std::move(node_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;

  void run() override { node_->work->run(); }

 private:
  friend class Recordings;
  Recordings& from_;
  std::unique_ptr<Node> node_;
};

Recordings::Recordings(Pool& pool) : pool_(pool) {}
Recordings::~Recordings() { free_retired(); }

void Recordings::refuse_while_open() const {
  if (open_) throw std::runtime_error("cannot wait for the GPU while its work is recorded");
}

void Recordings::begin(Driver& driver) {
  driver.begin_recording();
  pool_.begin_capture();
  open_ = true;
}

std::unique_ptr<Capture> Recordings::end(Driver& driver) {
  if (!open_) throw std::runtime_error("cannot end a recording of GPU work: none was begun");
  // Allocates before the recording ends: if memory runs out here, the recording is still open.
  auto owned = std::make_unique<Owned>(*this, std::make_unique<Node>(pool_));
  open_ = false;
  owned->node_->memory = pool_.end_capture();
  owned->node_->work = driver.end_recording();
  free_retired();
  if (owned->node_->work == nullptr) return nullptr;
  return owned;
}

void Recordings::free_retired() noexcept {
  while (retired_ != nullptr) retired_ = std::move(retired_->next);
}

}  // namespace mr::cuda
