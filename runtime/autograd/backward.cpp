#include <queue>
#include <string>
#include <unordered_map>

#include "runtime/autograd/anomaly.h"
#include "runtime/autograd/node.h"
#include "runtime/autograd/timed.h"

namespace mr {
namespace {

struct Later {
  bool operator()(const std::shared_ptr<Node>& a, const std::shared_ptr<Node>& b) const {
    return a->sequence < b->sequence;
  }
};

/// Holds the derivatives of graph nodes that the backward pass has not visited yet. Nodes are taken in descending order
/// of their numbers, so all users of a node are visited before it.
class Agenda {
 public:
  void add_to(const std::shared_ptr<Node>& node, Gradient gradient) {
    // Operations on rows, such as sums over lists, accept scores of any shape and return a vector. So the gradient may
    // have to be reshaped to the shape of the node's tensor.
    if (!gradient.sparse() && !(gradient.dense.shape() == node->shape))
      gradient.dense = gradient.dense.viewed(node->shape);
    const auto [at, is_new] = waiting_.try_emplace(node.get());
    if (is_new) {
      at->second = std::move(gradient);
      heap_.push(node);
    } else {
      at->second = add(at->second, gradient, node->shape);
    }
  }

  bool empty() const { return heap_.empty(); }

  std::pair<std::shared_ptr<Node>, Gradient> next() {
    std::shared_ptr<Node> node = heap_.top();
    heap_.pop();
    auto taken = waiting_.extract(node.get());
    return {std::move(node), std::move(taken.mapped())};
  }

 private:
  std::priority_queue<std::shared_ptr<Node>, std::vector<std::shared_ptr<Node>>, Later> heap_;
  std::unordered_map<Node*, Gradient> waiting_;
};

std::string described(const Tensor& x) {
  return x.shape().text() + " " + std::string(name_of(x.dtype())) + " on " + std::string(name_of(x.device()));
}

Tensor seed_of(const Tensor& root, const Tensor& seed) {
  if (root.node() == nullptr) {
    throw std::invalid_argument(
        "the tensor was computed without a tensor that requires gradients; "
        "call x:requires_grad() on a tensor before it is used");
  }
  if (!seed.defined()) {
    if (root.entries() != 1) {
      throw std::invalid_argument("the tensor has shape " + root.shape().text() +
                                  ", expected a single number; write x:sum():backward() or x:mean():backward()");
    }
    return Tensor::full(root.shape(), 1, root.dtype(), root.device());
  }
  if (!(seed.shape() == root.shape()) || seed.dtype() != root.dtype() || seed.device() != root.device()) {
    throw std::invalid_argument("the gradient that was passed as seed is " + described(seed) +
                                ", expected the tensor's shape, dtype and device: " + described(root));
  }
  return seed.data();
}

Gradients derivatives(const Node& node, const Gradient& upstream) {
  const Timed timed(node.name, Timed::backward);
  return node.vjp(to_dense(upstream, node.shape));
}

}  // namespace

void backward(const Tensor& root, const Tensor& seed, bool keep) {
  Agenda agenda;
  agenda.add_to(root.node(), seed_of(root, seed));
  const bool was_recording = set_recording(false);
  struct Restore {
    bool on;
    ~Restore() { set_recording(on); }
  } const restore{was_recording};
  // Gradients of leaves are written last, so that an error on the way changes neither gradients nor the graph. Backward
  // can then be repeated, for example after an out-of-memory error.
  std::vector<std::pair<std::shared_ptr<Node>, Gradient>> leaves;
  std::vector<std::shared_ptr<Node>> walked;
  while (!agenda.empty()) {
    auto [node, upstream] = agenda.next();
    if (node->leaf) {
      leaves.emplace_back(std::move(node), std::move(upstream));
      continue;
    }
    if (node->freed) {
      throw std::invalid_argument(
          "'" + std::string(node->name) +
          "' belongs to a graph that an earlier backward() freed; pass {keep = true} to the earlier one");
    }
    Gradients gradients = derivatives(*node, upstream);
    for (size_t i = 0; detected_anomalies() != Anomaly::none && i < gradients.size(); ++i)
      look_for_anomaly_in_derivative(node->name, gradients[i].sparse() ? gradients[i].values : gradients[i].dense, i);
    for (size_t i = 0; i < node->inputs.size(); ++i) {
      if (node->inputs[i] != nullptr && gradients[i].defined()) agenda.add_to(node->inputs[i], std::move(gradients[i]));
    }
    if (!keep) walked.push_back(std::move(node));
  }
  for (auto& [node, gradient] : leaves) {
    if (node->grad.defined()) gradient = add(node->grad, gradient, node->shape);
  }
  for (auto& [node, gradient] : leaves) node->grad = std::move(gradient);
  for (const auto& node : walked) {
    node->freed = true;
    node->vjp = nullptr;
    node->inputs.clear();
  }
}

}  // namespace mr
