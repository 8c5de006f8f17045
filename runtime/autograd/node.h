// The graph of recorded operations. A node owns the data that its derivative needs and edges to the nodes of its
// inputs. The data has no graph edges and is never the node's own output, so there are no cycles. Nodes are numbered in
// the order of creation, so descending numbers are a valid order for backward.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace mr {

/// The derivative of a loss by a tensor. It is dense, or sparse: then `values` are the derivatives by the rows whose
/// numbers, counted from 1, are in `rows`, and repeated rows add up. `once` means that no row is repeated and rows are
/// ascending.
struct Gradient {
  Tensor dense;
  Tensor rows;
  Tensor values;
  bool once = false;

  Gradient() = default;
  Gradient(Tensor all) : dense(std::move(all)) {}  // NOLINT: a dense tensor is a gradient
  Gradient(Tensor index, Tensor at_index, bool each_once = false)
      : rows(std::move(index)), values(std::move(at_index)), once(each_once) {}

  bool defined() const { return dense.defined() || rows.defined(); }
  bool sparse() const { return rows.defined(); }
};

using Gradients = std::vector<Gradient>;
/// A function that maps the derivative by an operation's output to the derivatives by its inputs, in order. An
/// undefined entry means zero.
using Vjp = std::function<Gradients(const Tensor& upstream)>;

struct Node {
  const char* name = "";
  uint64_t sequence = 0;
  std::vector<std::shared_ptr<Node>> inputs;
  Vjp vjp;
  Shape shape;
  bool leaf = false;
  bool freed = false;
  Gradient grad;
  std::shared_ptr<Node> freed_next;  // the next node in the list of nodes that are being freed

  Node() = default;
  /// Frees this node, and the nodes before it in the graph that nothing else uses. It does so in a loop: recursion over
  /// ten thousand nodes would overflow the stack. Allocates no memory.
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
};

/// Records an operation: returns `out` with a graph node that holds `vjp`, its derivative. Returns `out` itself if
/// recording is off or no input requires a gradient.
Tensor record(const char* name, const Tensor& out, std::initializer_list<Tensor> inputs, Vjp vjp);
Tensor record(const char* name, const Tensor& out, const std::vector<Tensor>& inputs, Vjp vjp);
/// Returns true if `record` would record an operation with these inputs. If not, the operation can skip work that only
/// its derivative needs.
bool recording(std::initializer_list<Tensor> inputs);

/// Returns a tensor that shares the bytes of x, requires gradients and collects them (a leaf of the graph). Throws for
/// int64, and if x is the result of a recorded operation.
Tensor requires_grad(const Tensor& x);

/// Computes the derivatives of `root` and adds them to the gradients of the leaves of its graph. `seed`, the upstream
/// derivative, is required unless root is a single number. Frees the values that nodes saved for this, unless `keep` is
/// true.
void backward(const Tensor& root, const Tensor& seed, bool keep);

/// Turns the recording of operations for backward on or off in this thread. Returns the previous setting.
bool set_recording(bool on);

Gradient add(const Gradient& a, const Gradient& b, const Shape& shape);
Tensor to_dense(const Gradient& gradient, const Shape& shape);
/// Merges repeated rows of a sparse gradient and sorts the rows. Repeats are added in order, which is deterministic.
Gradient merged(const Gradient& gradient);

}  // namespace mr
