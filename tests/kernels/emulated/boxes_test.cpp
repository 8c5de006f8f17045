// Compares smooth ranks and derivatives on the GPU, computed by the box method for long and short lists in one batch,
// with sums over all pairs in long double. Results have the same bits in both orders of the emulated lanes.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/core/rng.h"
#include "kernels/smooth/boxes/box_ranks.cuh"
#include "kernels/tensor/normal.h"
#include "tests/support/on_device.h"

namespace mr {

// instantiated here once; pairs_test.cpp calls them, too
template void cuda::smooth_rank(int64_t, const SmoothRank<float>&, int64_t);
template void cuda::smooth_rank(int64_t, const SmoothRank<double>&, int64_t);
template void cuda::smooth_rank_vjp(int64_t, const SmoothRankVjp<float>&, int64_t);
template void cuda::smooth_rank_vjp(int64_t, const SmoothRankVjp<double>&, int64_t);

namespace {

using test::OnDevice;

double score(const std::string& shape, int64_t i, int64_t n) {
  const RandomKey key = random_key(static_cast<uint64_t>(n), shape.c_str());
  const auto at = static_cast<uint64_t>(i);
  const double u = uniform(key, at) - 0.5;
  if (shape == "equal") return 3 + 0.02 * u;
  if (shape == "normal") return normal(key, at);
  if (shape == "ties") return std::floor(8 * u);
  if (shape == "wide") return 10 * normal(key, at);
  if (shape == "cauchy") return std::clamp(std::tan(std::numbers::pi * u), -300.0, 300.0);
  if (shape == "shifted") return 1e4 + normal(key, at);
  if (shape == "clusters") return 20 * static_cast<double>(i % 8) + normal(key, at);
  if (shape == "one far") return i == 7 ? 1e9 : normal(key, at);
  return i == 7 ? -std::numeric_limits<double>::infinity() : normal(key, at);
}

/// Test input: a batch of lists whose every third row is relevant.
template <class Real>
struct Batch {
  std::vector<Real> scores, g, h;
  std::vector<int64_t> offsets{0}, marked_offsets{0};
  std::vector<int32_t> marked;
  Real steepness = Real(1.5);
  static constexpr int64_t every = 3;

  Batch(const std::string& shape, const std::vector<int64_t>& sizes) {
    for (const int64_t n : sizes) {
      for (int64_t i = 0; i < n; ++i) {
        scores.push_back(static_cast<Real>(score(shape, i, n)));
        if (i % every != 1) continue;
        marked.push_back(static_cast<int32_t>(i));
        g.push_back(static_cast<Real>(normal(random_key(1, "g"), static_cast<uint64_t>(i))));
        h.push_back(static_cast<Real>(normal(random_key(2, "h"), static_cast<uint64_t>(i))));
      }
      offsets.push_back(static_cast<int64_t>(scores.size()));
      marked_offsets.push_back(static_cast<int64_t>(marked.size()));
    }
  }
  int64_t count() const { return static_cast<int64_t>(offsets.size()) - 1; }
};

template <class Real>
struct Results {
  std::vector<Real> ranks, among, all_ranks, all_among, marked_ranks, derivatives, ap_derivatives;

  bool operator==(const Results&) const = default;
};

template <class Real>
Results<Real> by_boxes(const Batch<Real>& batch, int64_t least_pairs = 1) {
  const OnDevice<Real> scores(batch.scores), g(batch.g), h(batch.h);
  const OnDevice<int64_t> offsets(batch.offsets), marked_offsets(batch.marked_offsets);
  const OnDevice<int32_t> rows(batch.marked);
  const OnDevice<Real> rank(g.size()), among(g.size()), all_rank(scores.size()), all_among(scores.size()),
      marked_rank(g.size()), out(scores.size()), ap_out(scores.size());
  const int64_t count = batch.count(), longest = scores.size();
  const Ragged lists{offsets.data(), count};
  const Chosen marked{{marked_offsets.data(), count}, rows.data()}, all{lists, nullptr};
  const auto ranks = [&](const Chosen& targets, const Chosen& sources, Span<Real> to, Span<Real> second) {
    cuda::smooth_rank<Real>(count, {scores.span(), lists, targets, sources, batch.steepness, to, second, longest},
                            least_pairs);
  };
  const auto vjp = [&](Span<const Real> by_h, Span<Real> to) {
    cuda::smooth_rank_vjp<Real>(count, {scores.span(), lists, marked, batch.steepness, g.span(), by_h, to, longest},
                                least_pairs);
  };
  ranks(marked, all, rank.span(), among.span());
  ranks(all, all, all_rank.span(), {});
  ranks(all, marked, all_among.span(), {});
  ranks(marked, marked, marked_rank.span(), {});
  vjp({}, out.span());
  vjp(h.span(), ap_out.span());
  return {rank.values(),        among.values(), all_rank.values(), all_among.values(),
          marked_rank.values(), out.values(),   ap_out.values()};
}

/// Expected results for one list: plain sums over all pairs in long double.
template <class Real>
struct Oracle {
  const Batch<Real>& batch;
  int64_t list;

  int64_t rows() const { return batch.offsets[list + 1] - batch.offsets[list]; }
  long double apart(int64_t j, int64_t i) const {
    const long double a = batch.scores[batch.offsets[list] + j], b = batch.scores[batch.offsets[list] + i];
    return a == b ? 0 : batch.steepness * (a - b);
  }
  static long double kernel(long double t) {
    const long double e = std::exp(-std::fabs(t));
    return e / ((1 + e) * (1 + e));
  }
  long double rank(int64_t i, bool among) const {
    long double total = 1;
    for (int64_t j = among ? 1 : 0; j < rows(); j += among ? Batch<Real>::every : 1) {
      if (j != i) total += 1 / (1 + std::exp(-apart(j, i)));
    }
    return total;
  }
  long double derivative(int64_t k, bool with_h) const {
    const int64_t first = batch.marked_offsets[list], p = batch.marked_offsets[list + 1] - first;
    long double total = 0;
    for (int64_t i = 0; i < p; ++i) total += batch.g[first + i] * kernel(apart(k, batch.marked[first + i]));
    if (k % Batch<Real>::every == 1) {
      const int64_t own = first + k / Batch<Real>::every;
      for (int64_t j = 0; j < rows(); ++j) total -= batch.g[own] * kernel(apart(j, k));
      for (int64_t i = 0; with_h && i < p; ++i) {
        const long double difference = static_cast<long double>(batch.h[first + i]) - batch.h[own];
        total += difference * kernel(apart(batch.marked[first + i], k));
      }
    }
    return batch.steepness * total;
  }
};

template <class Real>
constexpr double tolerance = sizeof(Real) == 4 ? 1e-6 : 1e-12;

template <class Real>
void check_list(const Batch<Real>& batch, int64_t list, const Results<Real>& found) {
  const Oracle<Real> oracle{batch, list};
  const int64_t n = oracle.rows(), at = batch.offsets[list], slots = batch.marked_offsets[list];
  const auto close = [](Real value, long double expected, double scale) {
    return std::fabs(static_cast<double>(value - expected)) <= tolerance<Real> * scale;
  };
  double largest = 1;
  for (int64_t i = at; i < at + n; ++i) {
    largest = std::max<double>({largest, std::fabs(found.derivatives[i]), std::fabs(found.ap_derivatives[i])});
  }
  REQUIRE(std::isfinite(largest));
  for (int64_t i = 0; i < n; i += std::max<int64_t>(1, n / 40)) {
    CAPTURE(list, n, i);
    const long double rank = oracle.rank(i, false), among = oracle.rank(i, true);
    REQUIRE(close(found.all_ranks[at + i], rank, static_cast<double>(rank)));
    REQUIRE(close(found.all_among[at + i], among, static_cast<double>(among)));
    REQUIRE(close(found.derivatives[at + i], oracle.derivative(i, false), largest));
    REQUIRE(close(found.ap_derivatives[at + i], oracle.derivative(i, true), largest));
    if (i % Batch<Real>::every != 1) continue;
    const int64_t slot = slots + i / Batch<Real>::every;
    REQUIRE(close(found.ranks[slot], rank, static_cast<double>(rank)));
    REQUIRE(close(found.among[slot], among, static_cast<double>(among)));
    REQUIRE(close(found.marked_ranks[slot], among, static_cast<double>(among)));
  }
}

}  // namespace

TEMPLATE_TEST_CASE("smooth ranks and derivatives by boxes on the GPU agree with sums over all pairs", "", float,
                   double) {
  const std::string shape =
      GENERATE("equal", "normal", "ties", "wide", "cauchy", "shifted", "clusters", "one far", "infinite");
  CAPTURE(shape);
  const Batch<TestType> batch(shape, {0, 1, 9, 5000, 31, 128, 1000, 0, 129, 3});
  const Results<TestType> found = by_boxes(batch);
  for (int64_t list = 0; list < batch.count(); ++list) check_list(batch, list, found);
}

TEMPLATE_TEST_CASE("smooth ranks and derivatives by boxes on the GPU have the same bits in every lane order", "", float,
                   double) {
  const Batch<TestType> batch("wide", {700, 3000, 40});
  const Results<TestType> found = by_boxes(batch);
  // The emulator reverses the order of lanes at each launch. by_boxes makes an odd number of launches, so the second
  // call runs each kernel in the other order.
  REQUIRE(by_boxes(batch) == found);
}

TEMPLATE_TEST_CASE("smooth ranks and derivatives on the GPU use boxes only for lists with enough pairs", "", float,
                   double) {
  const Batch<TestType> batch("normal", {100, 2000, 300}), alone("normal", {2000});
  const auto pairs = by_boxes(batch, int64_t{1} << 40), some = by_boxes(batch, 600000), boxes = by_boxes(alone);
  const auto part = [&](const std::vector<TestType>& v, int64_t list) {
    return std::vector<TestType>(v.begin() + batch.offsets[list], v.begin() + batch.offsets[list + 1]);
  };
  REQUIRE(part(some.derivatives, 0) == part(pairs.derivatives, 0));
  REQUIRE(part(some.derivatives, 2) == part(pairs.derivatives, 2));
  REQUIRE(part(some.derivatives, 1) == boxes.derivatives);
  REQUIRE(part(some.all_ranks, 1) == boxes.all_ranks);
  REQUIRE(part(pairs.derivatives, 1) != boxes.derivatives);
}

}  // namespace mr
