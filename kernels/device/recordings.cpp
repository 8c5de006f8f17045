#include <utility>

#include "kernels/device/capture.h"

namespace mr::cuda {
namespace {

/// A recording, and the next that waits to be freed: a list, so that nothing is allocated when one is given up.
struct Node {
  std::unique_ptr<Capture> recording;
  std::unique_ptr<Node> next;
};
std::unique_ptr<Node> retired;

class Owned : public Capture {
 public:
  explicit Owned(std::unique_ptr<Capture> recording) : node_(new Node{std::move(recording), nullptr}) {}
  ~Owned() override {
    if (!is_capturing()) return;
    node_->next = std::move(retired);
    retired = std::move(node_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;

  void run() override { node_->recording->run(); }

 private:
  std::unique_ptr<Node> node_;
};

}  // namespace

std::unique_ptr<Capture> hand_out(std::unique_ptr<Capture> recording) {
  return std::make_unique<Owned>(std::move(recording));
}

void free_retired() noexcept {
  while (retired != nullptr) retired = std::move(retired->next);
}

}  // namespace mr::cuda
