// Tests of sums of sparse gradients: each row occurs once in the result, rows are in ascending order, and repeated rows
// are added in their order of arrival.
#include <vector>

#include <catch2/catch.hpp>

#include "runtime/autograd/node.h"

namespace mr {
namespace {

Gradient rows(const std::vector<int64_t>& index, const std::vector<double>& values) {
  const auto n = static_cast<int64_t>(index.size());
  const auto width = n > 0 ? static_cast<int64_t>(values.size()) / n : 2;
  return {Tensor::from(index), Tensor::from(values).viewed({n, width})};
}

TEST_CASE("merged sums repeated gradient rows and sorts them in ascending order", "[autograd]") {
  const Gradient once = merged(rows({3, 1, 3, 2}, {1, 2, 10, 20, 100, 200, 7, 8}));
  CHECK(once.rows.to_vector<int64_t>() == std::vector<int64_t>{1, 2, 3});
  CHECK(once.values.to_vector<double>() == std::vector<double>{10, 20, 7, 8, 101, 202});
}

TEST_CASE("merged and add sum repeated gradient rows in their order of arrival", "[autograd]") {
  // the order of addition shows in float64: (1e16 + 1) - 1e16 is 0, but (1e16 - 1e16) + 1 is 1
  CHECK(merged(rows({1, 1, 1}, {1e16, 1, -1e16})).values.to_vector<double>() == std::vector<double>{0});
  CHECK(merged(rows({1, 1, 1}, {1e16, -1e16, 1})).values.to_vector<double>() == std::vector<double>{1});
  const Gradient both = add(rows({1}, {1e16}), rows({1, 1}, {1, -1e16}), {2, 1});
  CHECK(both.sparse());
  CHECK(to_dense(both, {2, 1}).to_vector<double>() == std::vector<double>{0, 0});
}

TEST_CASE("a gradient without rows is zero", "[autograd]") {
  const Gradient none = rows({}, {});
  CHECK(merged(none).rows.entries() == 0);
  CHECK(to_dense(none, {2, 2}).to_vector<double>() == std::vector<double>{0, 0, 0, 0});
  const Gradient some = add(none, rows({2}, {5, 6}), {2, 2});
  CHECK(to_dense(some, {2, 2}).to_vector<double>() == std::vector<double>{0, 0, 5, 6});
}

TEST_CASE("add sums sparse gradient rows and a dense gradient", "[autograd]") {
  const Tensor dense = Tensor::from(std::vector<double>{1, 2, 3, 4}).viewed({2, 2});
  const std::vector<double> expected{1, 2, 13, 24};
  CHECK(to_dense(add(dense, rows({2}, {10, 20}), {2, 2}), {2, 2}).to_vector<double>() == expected);
  CHECK(to_dense(add(rows({2}, {10, 20}), dense, {2, 2}), {2, 2}).to_vector<double>() == expected);
  CHECK(dense.to_vector<double>() == std::vector<double>{1, 2, 3, 4});  // the operands of add() are unchanged
}

}  // namespace
}  // namespace mr
