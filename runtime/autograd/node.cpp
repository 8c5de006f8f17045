#include "runtime/autograd/node.h"

#include <atomic>
#include <utility>

#include "runtime/autograd/anomaly.h"

namespace mr {
namespace {
thread_local bool recording_is_on = true;
std::atomic<uint64_t> last_sequence{0};
}  // namespace

Node::~Node() {
  std::shared_ptr<Node> pending;
  const auto let_go = [&pending](std::vector<std::shared_ptr<Node>>& nodes) {
    for (std::shared_ptr<Node>& each : nodes) {
      std::shared_ptr<Node> node = std::move(each);
      if (node == nullptr || node.use_count() != 1) continue;
      node->freed_next = std::move(pending);
      pending = std::move(node);
    }
  };
  let_go(inputs);
  vjp = nullptr;
  while (pending != nullptr) {
    const std::shared_ptr<Node> node = std::move(pending);
    pending = std::move(node->freed_next);
    let_go(node->inputs);
  }
}

bool recording(std::initializer_list<Tensor> inputs) {
  if (!recording_is_on) return false;
  for (const Tensor& x : inputs) {
    if (x.defined() && x.node() != nullptr) return true;
  }
  return false;
}

Tensor record(const char* name, const Tensor& out, const std::vector<Tensor>& inputs, Vjp vjp) {
  if (detected_anomalies() != Anomaly::none) [[unlikely]]
    look_for_anomaly(name, out, inputs);
  bool needed = false;
  for (const Tensor& x : inputs) needed = needed || x.node() != nullptr;
  if (!needed || !recording_is_on) return out;
  auto node = std::make_shared<Node>();
  node->name = name;
  node->sequence = ++last_sequence;
  node->vjp = std::move(vjp);
  node->shape = out.shape();
  for (const Tensor& x : inputs) node->inputs.push_back(x.node());
  return out.with_node(std::move(node));
}

Tensor record(const char* name, const Tensor& out, std::initializer_list<Tensor> inputs, Vjp vjp) {
  return record(name, out, std::vector<Tensor>(inputs), std::move(vjp));
}

Tensor requires_grad(const Tensor& x) {
  if (x.dtype() == Dtype::int64) throw std::invalid_argument("int64 tensors hold indices and have no gradient");
  if (x.node() != nullptr) {
    if (x.node()->leaf) return x;
    throw std::invalid_argument("the tensor was computed from tensors with gradients; call x:detach() first");
  }
  auto node = std::make_shared<Node>();
  node->name = "leaf";
  node->sequence = ++last_sequence;
  node->leaf = true;
  node->shape = x.shape();
  return x.with_node(std::move(node));
}

bool set_recording(bool on) { return std::exchange(recording_is_on, on); }

}  // namespace mr
