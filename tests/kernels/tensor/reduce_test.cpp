// Compares sums, maxima and softmax per list, computed lane by lane as on the GPU, with plain loops.
#include "kernels/tensor/reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/tensor/list_reduce.h"
#include "kernels/tensor/softmax.h"
#include "tests/support/emulated_group.h"

namespace mr {
namespace {

using test::EmulatedGroup;
using test::Order;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Test input: two lists of n rows, with an empty list between them.
struct Sample {
  explicit Sample(int64_t n) : offsets{0, n, n, 2 * n}, x(static_cast<size_t>(2 * n)), g(x.size()) {
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = std::sin(static_cast<double>(i) * 12.9898) * 3;
      g[i] = std::cos(static_cast<double>(i) * 78.233);
    }
  }
  Ragged lists() const { return {offsets.data(), 3}; }
  Span<const double> rows() const { return {x.data(), static_cast<int64_t>(x.size())}; }
  Span<const double> upstream() const { return {g.data(), static_cast<int64_t>(g.size())}; }

  std::vector<int64_t> offsets;
  std::vector<double> x, g;
};

template <class Kernel, class Group>
void run(const Kernel& kernel, const Group& group) {
  for (int64_t list = 0; list < 3; ++list) kernel(group, list);
}

Span<double> out_of(std::vector<double>& values) { return {values.data(), static_cast<int64_t>(values.size())}; }

template <class Group>
void check_lists(const Group& group, int64_t n) {
  const Sample sample(n);
  std::vector<double> sum(3), mean(3), top(3), soft(sample.x.size()), by(sample.x.size()), each(sample.x.size());
  std::vector<int64_t> at(3);
  run(ListSum<double>{sample.rows(), sample.lists(), false, out_of(sum)}, group);
  run(ListSum<double>{sample.rows(), sample.lists(), true, out_of(mean)}, group);
  run(ListMax<double>{sample.rows(), sample.lists(), out_of(top), {at.data(), 3}}, group);
  run(ListSoftmax<double>{sample.rows(), sample.lists(), out_of(soft)}, group);
  const Span<const double> y{soft.data(), static_cast<int64_t>(soft.size())};
  run(ListSoftmaxVjp<double>{y, sample.upstream(), sample.lists(), out_of(by)}, group);
  run(Spread<double>{{sum.data(), 3}, sample.lists(), false, out_of(each)}, group);
  for (int list = 0; list < 3; ++list) {
    const int64_t begin = sample.offsets[list], end = sample.offsets[list + 1];
    double total = 0, exponentials = 0, inner = 0, best = -infinity;
    int64_t where = -1;
    for (int64_t i = begin; i < end; ++i) {
      total += sample.x[i];
      exponentials += std::exp(sample.x[i]);
      if (sample.x[i] > best) best = sample.x[where = i];
    }
    for (int64_t i = begin; i < end; ++i) inner += std::exp(sample.x[i]) / exponentials * sample.g[i];
    CHECK(sum[list] == Approx(total).margin(1e-12));
    CHECK(mean[list] == Approx(end > begin ? total / static_cast<double>(end - begin) : 0).margin(1e-12));
    CHECK(top[list] == best);
    CHECK(at[list] == where);
    double worst = 0;
    for (int64_t i = begin; i < end; ++i) {
      const double p = std::exp(sample.x[i]) / exponentials;
      worst = std::max(
          {worst, std::abs(soft[i] - p), std::abs(by[i] - p * (sample.g[i] - inner)), std::abs(each[i] - sum[list])});
    }
    CHECK(worst < 1e-14);
  }
}

TEST_CASE("reductions per list agree with plain loops on every kind of group", "[kernels]") {
  const auto n = GENERATE(as<int64_t>(), 0, 1, 31, 32, 33, 127, 128, 129, 1000);
  CAPTURE(n);
  check_lists(SerialGroup{}, n);
  for (const Order order : {Order::forward, Order::backward}) {
    check_lists(EmulatedGroup(32, order), n);
    check_lists(EmulatedGroup(128, order), n);
  }
}

template <class Group>
void check_runs(const Group& group) {
  // a 3 x 2 matrix stored by rows, reduced along each column
  const std::vector<double> x{1, 20, 5, 40, 3, 40};
  Broadcast kept, reduced;
  reduced.step = 2;
  const Runs runs{kept, reduced, 3};
  const Span<const double> in{x.data(), 6};
  std::vector<double> sum(2), top(2), soft(6);
  std::vector<int64_t> at(2);
  for (int64_t o = 0; o < 2; ++o) {
    ReduceSum<double>{in, out_of(sum), runs, 0.5}(group, o);
    ReduceMax<double>{in, out_of(top), {at.data(), 2}, runs}(group, o);
    Softmax<double>{in, out_of(soft), runs}(group, o);
  }
  CHECK(sum == std::vector<double>{4.5, 50});
  CHECK(top == std::vector<double>{5, 40});
  CHECK(at == std::vector<int64_t>{2, 2});  // the position of the maximum, counted from 1; of equal maxima, the first
  CHECK(soft[1] + soft[3] + soft[5] == Approx(1));
  CHECK(soft[0] == Approx(std::exp(1) / (std::exp(1) + std::exp(5) + std::exp(3))));
}

TEST_CASE("reductions along a dimension agree with plain loops on every kind of group", "[kernels]") {
  check_runs(SerialGroup{});
  for (const Order order : {Order::forward, Order::backward}) {
    check_runs(EmulatedGroup(32, order));
    check_runs(EmulatedGroup(128, order));
  }
}

TEST_CASE("list_max returns NaN if a row is NaN, and list_softmax accepts infinite scores", "[kernels]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> x{1, nan, 3, -infinity, 0, -infinity};
  const std::vector<int64_t> offsets{0, 3, 3, 6};
  std::vector<double> top(3), soft(6);
  std::vector<int64_t> at(3);
  run(ListMax<double>{{x.data(), 6}, {offsets.data(), 3}, out_of(top), {at.data(), 3}}, SerialGroup{});
  CHECK(std::isnan(top[0]));
  CHECK(at == std::vector<int64_t>{1, -1, 4});
  run(ListSoftmax<double>{{x.data(), 6}, {offsets.data(), 3}, out_of(soft)}, EmulatedGroup(128));
  CHECK(std::isnan(soft[0]));
  CHECK(soft[3] == 0);
  CHECK(soft[4] == 1);
}

}  // namespace
}  // namespace mr
