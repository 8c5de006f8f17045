// The graph of recorded operations. A node owns what its derivative needs (data without graph edges, never its own
// output, so there are no cycles) and edges to the nodes of its inputs. Nodes are numbered as they are made, so
// descending numbers are a valid order for backward.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace mr {

/// The derivative of a loss by a tensor: dense, or zero but for some rows (1-based `rows`, which may repeat and then
/// add up). `once` says that each row is there once, in ascending order.
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
/// From the derivative by the output to the derivatives by the inputs, in order; an undefined entry means zero.
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
  std::shared_ptr<Node> freed_next;  // while they are freed

  Node() = default;
  /// Iterative: a chain of ten thousand steps must not recurse. Takes no memory, which may have run out.
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
};

/// `out` with a node that can differentiate it, or `out` itself where no input requires gradients or recording is off.
Tensor record(const char* name, const Tensor& out, std::initializer_list<Tensor> inputs, Vjp vjp);
Tensor record(const char* name, const Tensor& out, const std::vector<Tensor>& inputs, Vjp vjp);
/// True if `record` would record; lets an operation skip what only its derivative needs.
bool recording(std::initializer_list<Tensor> inputs);

/// Returns a leaf that shares the bytes of x and collects gradients. Throws for int64 and for a
/// tensor that was computed from others.
Tensor requires_grad(const Tensor& x);

/// Adds the derivatives of `root` into the leaves it depends on. `seed` is needed where root is not a single number.
/// Frees the values that the nodes saved, unless `keep`.
void backward(const Tensor& root, const Tensor& seed, bool keep);

/// Recording on or off for this thread; returns what it was.
bool set_recording(bool on);

/// Sum of two derivatives of a tensor of that shape.
Gradient add(const Gradient& a, const Gradient& b, const Shape& shape);
/// As one full tensor.
Tensor to_dense(const Gradient& gradient, const Shape& shape);
/// Sparse rows with each row once, in ascending order; repeats are added in the order they came, so the result is the
/// same every time.
Gradient merged(const Gradient& gradient);

}  // namespace mr
