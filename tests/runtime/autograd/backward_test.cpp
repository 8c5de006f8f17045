// Tests of the backward pass that need C++: a derivative that fails in the middle, and the order in which nodes are
// visited.
#include <memory>
#include <stdexcept>
#include <string>

#include <catch2/catch.hpp>

#include "runtime/autograd/node.h"
#include "tests/support/says.h"

namespace mr {
namespace {

Tensor number(double x) { return Tensor::full({}, x, Dtype::float64); }
Tensor leaf(double x) { return requires_grad(number(x)); }
double grad(const Tensor& x) { return to_dense(x.node()->grad, x.shape()).item(); }

/// An operation that multiplies x by `factor`. In the backward pass it throws an error while `*broken` is true, and
/// appends its name to `*walked`.
Tensor step(const char* name, const Tensor& x, double factor, const bool* broken = nullptr,
            std::string* walked = nullptr) {
  return record(name, number(x.item() * factor), {x}, [=](const Tensor& g) -> Gradients {
    if (broken != nullptr && *broken) throw std::runtime_error("the derivative failed");
    if (walked != nullptr) *walked += name;
    return {number(g.item() * factor)};
  });
}

Tensor sum(const Tensor& a, const Tensor& b) {
  return record("sum", number(a.item() + b.item()), {a, b}, [](const Tensor& g) -> Gradients { return {g, g}; });
}

TEST_CASE("backward that fails in a derivative changes no gradient and can be repeated", "[autograd]") {
  const Tensor x = leaf(1), y = leaf(2);
  backward(step("a", x, 3), {}, false);
  REQUIRE(grad(x) == 3);
  bool broken = true;
  // The backward pass visits the operations of y first; then operation "c" of x fails.
  const Tensor loss = sum(step("b", step("c", x, 5, &broken), 7), step("d", y, 11));
  CHECK_THROWS_WITH(backward(loss, {}, false), "the derivative failed");
  CHECK(grad(x) == 3);
  CHECK_FALSE(y.node()->grad.defined());
  CHECK(set_recording(true));  // the failed backward pass has switched recording on again
  broken = false;
  backward(loss, {}, false);
  CHECK(grad(x) == 3 + 35);
  CHECK(grad(y) == 11);
  CHECK_THROWS_WITH(backward(loss, {}, false), test::says("backward()", "freed"));
  CHECK(grad(x) == 3 + 35);
}

TEST_CASE("backward visits a node once, after all nodes that use it", "[autograd]") {
  std::string walked;
  const Tensor x = leaf(1);
  const Tensor a = step("a", x, 2, nullptr, &walked);
  const Tensor b = step("b", a, 3, nullptr, &walked);
  const Tensor c = step("c", a, 5, nullptr, &walked);
  backward(sum(sum(b, a), c), {}, false);
  CHECK(walked == "cba");
  CHECK(grad(x) == 2 * (3 + 1 + 5));
}

TEST_CASE("backward treats an undefined derivative as zero", "[autograd]") {
  const Tensor x = leaf(1), y = leaf(2);
  const Tensor loss = record("half", number(1), {x, y}, [](const Tensor& g) -> Gradients { return {g, Gradient()}; });
  backward(loss, {}, false);
  CHECK(grad(x) == 1);
  CHECK_FALSE(y.node()->grad.defined());
}

TEST_CASE("backward frees what operations saved, although their result is kept", "[autograd]") {
  const auto saved = std::make_shared<int>(0);
  const auto using_it = [&](const Tensor& in) {
    return record("saves", number(in.item()), {in}, [saved](const Tensor& g) -> Gradients { return {g}; });
  };
  const Tensor x = leaf(1);
  Tensor middle = using_it(x);
  const Tensor result = using_it(middle);
  middle = Tensor();
  CHECK(saved.use_count() == 3);
  backward(result, {}, true);
  CHECK(saved.use_count() == 3);
  backward(result, {}, false);
  CHECK(saved.use_count() == 1);
  CHECK(x.node().use_count() == 1);
  CHECK(grad(x) == 2);
}

TEST_CASE("backward does not record operations within derivatives", "[autograd]") {
  const Tensor x = leaf(1);
  bool recorded = true;
  const Tensor loss = record("probe", number(1), {x}, [&](const Tensor& g) -> Gradients {
    recorded = recording({x});
    return {g};
  });
  backward(loss, {}, false);
  CHECK_FALSE(recorded);
}

TEST_CASE("backward from a leaf adds the seed to the leaf's gradient", "[autograd]") {
  const Tensor x = leaf(4);
  backward(x, {}, false);
  backward(x, {}, false);
  CHECK(grad(x) == 2);
}

}  // namespace
}  // namespace mr
