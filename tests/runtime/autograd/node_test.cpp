// Tests of autograd nodes: when they are recorded, and that long chains of nodes are visited and freed without
// recursion.
#include "runtime/autograd/node.h"

#include <catch2/catch.hpp>

namespace mr {
namespace {

Tensor identity(const Tensor& x) {
  return record("identity", x.data(), {x}, [](const Tensor& g) -> Gradients { return {g}; });
}

TEST_CASE("a graph of a million nodes is walked and freed without recursion", "[autograd]") {
  const Tensor x = requires_grad(Tensor::full({}, 1, Dtype::float64));
  Tensor y = x;
  for (int i = 0; i < 1000000; ++i) y = identity(y);
  SECTION("never walked") { y = Tensor(); }
  SECTION("walked") {
    backward(y, {}, false);
    CHECK(x.node()->grad.dense.item() == 1);
  }
  SECTION("kept") {
    backward(y, {}, true);
    backward(y, {}, true);
    CHECK(x.node()->grad.dense.item() == 2);
    y = Tensor();
  }
  y = Tensor();
  CHECK(x.node().use_count() == 1);
}

TEST_CASE("a subgraph that is still referenced survives the rest of its graph", "[autograd]") {
  const Tensor x = requires_grad(Tensor::full({}, 1, Dtype::float64));
  const Tensor middle = identity(identity(x));
  { const Tensor end = identity(identity(middle)); }
  backward(middle, {}, false);
  CHECK(x.node()->grad.dense.item() == 1);
}

TEST_CASE("operations record no node without a tracked input or with recording off", "[autograd]") {
  const Tensor plain = Tensor::full({}, 1, Dtype::float64), x = requires_grad(plain);
  CHECK(identity(plain).node() == nullptr);
  CHECK(plain.node() == nullptr);  // requires_grad(plain) returned a new handle; `plain` itself has no node
  CHECK(recording({plain, x}));
  CHECK_FALSE(recording({plain}));
  CHECK_FALSE(recording({}));
  const bool was = set_recording(false);
  CHECK(was);
  CHECK(identity(x).node() == nullptr);
  CHECK_FALSE(recording({x}));
  set_recording(was);
  CHECK(identity(x).node() != nullptr);
}

TEST_CASE("requires_grad keeps the node of a leaf and refuses other tensors and integers", "[autograd]") {
  const Tensor x = requires_grad(Tensor::full({}, 1, Dtype::float32));
  CHECK(requires_grad(x).node() == x.node());
  CHECK_THROWS(requires_grad(identity(x)));
  CHECK_THROWS(requires_grad(Tensor::full({}, 1, Dtype::int64)));
}

}  // namespace
}  // namespace mr
