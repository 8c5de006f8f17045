// Compares smooth ranks and derivatives on the GPU, computed by sums over pairs of rows, with plain sums in double. One
// batch has lists of many sizes. Results have the same bits in both orders of the emulated lanes and in every batch.
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/core/rng.h"
#include "kernels/smooth/boxes/box_ranks.cuh"
#include "kernels/tensor/normal.h"
#include "tests/support/on_device.h"

namespace mr {

// these templates are instantiated in boxes_test.cpp
extern template void cuda::smooth_rank(int64_t, const SmoothRank<float>&, int64_t);
extern template void cuda::smooth_rank(int64_t, const SmoothRank<double>&, int64_t);
extern template void cuda::smooth_rank_vjp(int64_t, const SmoothRankVjp<float>&, int64_t);
extern template void cuda::smooth_rank_vjp(int64_t, const SmoothRankVjp<double>&, int64_t);

namespace {

using test::OnDevice;

const char* const shapes[] = {"equal", "normal", "ties", "cauchy", "clusters", "spread", "infinite"};

double score(const std::string& shape, int64_t i) {
  const RandomKey key = random_key(7, shape.c_str());
  const auto at = static_cast<uint64_t>(i);
  const double infinity = std::numeric_limits<double>::infinity();
  if (shape == "equal") return 0.25;
  if (shape == "normal") return normal(key, at);
  if (shape == "ties") return std::floor(8 * uniform(key, at));
  if (shape == "cauchy") return std::tan(3.14159 * (uniform(key, at) - 0.5));
  if (shape == "clusters") return 20 * static_cast<double>(i % 3) + 0.1 * uniform(key, at);
  if (shape == "spread") return 2e4 * uniform(key, at);
  return i % 5 == 0 ? infinity : i % 5 == 1 ? -infinity : static_cast<double>(i % 7);
}

/// Test input: lists of the given sizes. Every `every`-th row is relevant; if `every` is 0, no row is.
template <class Real>
struct Batch {
  std::vector<Real> scores, g, h;
  std::vector<int64_t> offsets{0}, marked_offsets{0};
  std::vector<int32_t> marked;
  Real steepness = Real(1.25);

  Batch(const std::string& shape, const std::vector<int64_t>& sizes, const std::vector<int64_t>& every) {
    for (size_t list = 0; list < sizes.size(); ++list) add(shape, sizes[list], every[list % every.size()]);
  }
  void add(const std::string& shape, int64_t n, int64_t every) {
    for (int64_t i = 0; i < n; ++i) {
      scores.push_back(static_cast<Real>(score(shape, n + i)));
      if (every == 0 || i % every != every / 2) continue;
      marked.push_back(static_cast<int32_t>(i));
      g.push_back(static_cast<Real>(normal(random_key(1, "g"), static_cast<uint64_t>(n + i))));
      h.push_back(static_cast<Real>(normal(random_key(2, "h"), static_cast<uint64_t>(n + i))));
    }
    offsets.push_back(static_cast<int64_t>(scores.size()));
    marked_offsets.push_back(static_cast<int64_t>(marked.size()));
  }
  int64_t count() const { return static_cast<int64_t>(offsets.size()) - 1; }
};

template <class T, class From>
std::vector<T> as(const std::vector<From>& from) {
  return {from.begin(), from.end()};
}
template <class T>
Span<T> span(std::vector<T>& v) {
  return {v.data(), static_cast<int64_t>(v.size())};
}

/// All results that are computed for a batch of lists: smooth ranks and derivatives.
struct Results {
  std::vector<double> ranks, among, all_ranks, all_among, derivatives, ap_derivatives;
};

/// Computes smooth ranks of target rows among source rows three times: of relevant rows among all rows, of all rows
/// among all rows, and of all rows among relevant rows. The targets are the rows that get a rank.
template <class Real, class Ranks, class Vjp>
void run_all(const Span<const Real>& scores, const Ragged& lists, const Chosen& marked, Real steepness,
             const Span<const Real>& g, const Span<const Real>& h, Span<Real> rank, Span<Real> among,
             Span<Real> row_rank, Span<Real> row_among, Span<Real> out, Span<Real> ap_out, const Ranks& ranks,
             const Vjp& vjp) {
  const Chosen all{lists, nullptr};
  ranks(SmoothRank<Real>{scores, lists, marked, all, steepness, rank, among});
  ranks(SmoothRank<Real>{scores, lists, all, all, steepness, row_rank});
  ranks(SmoothRank<Real>{scores, lists, all, marked, steepness, row_among});
  vjp(SmoothRankVjp<Real>{scores, lists, marked, steepness, g, {}, out});
  vjp(SmoothRankVjp<Real>{scores, lists, marked, steepness, g, h, ap_out});
}

template <class Real>
Results on_device(const Batch<Real>& batch) {
  const OnDevice<Real> scores(batch.scores), g(batch.g), h(batch.h);
  const OnDevice<int64_t> offsets(batch.offsets), marked_offsets(batch.marked_offsets);
  const OnDevice<int32_t> marked(batch.marked);
  const OnDevice<Real> rank(g.size()), among(g.size()), row_rank(scores.size()), row_among(scores.size()),
      out(scores.size()), ap_out(scores.size());
  const int64_t count = batch.count();
  run_all<Real>(
      scores.span(), {offsets.data(), count}, {{marked_offsets.data(), count}, marked.data()}, batch.steepness,
      g.span(), h.span(), rank.span(), among.span(), row_rank.span(), row_among.span(), out.span(), ap_out.span(),
      [&](const SmoothRank<Real>& work) { cuda::smooth_rank(count, work, cuda::box_pairs); },
      [&](const SmoothRankVjp<Real>& work) { cuda::smooth_rank_vjp(count, work, cuda::box_pairs); });
  return {as<double>(rank.values()),      as<double>(among.values()), as<double>(row_rank.values()),
          as<double>(row_among.values()), as<double>(out.values()),   as<double>(ap_out.values())};
}

/// Expected results: smooth ranks and derivatives by plain sums in double, for the scores as they are rounded in Real.
template <class Real>
Results plain(const Batch<Real>& batch) {
  const auto scores = as<double>(batch.scores), g = as<double>(batch.g), h = as<double>(batch.h);
  const size_t p = g.size(), n = scores.size();
  Results to{std::vector<double>(p), std::vector<double>(p), std::vector<double>(n),
             std::vector<double>(n), std::vector<double>(n), std::vector<double>(n)};
  const int64_t count = batch.count();
  const auto view = [](const std::vector<double>& v) {
    return Span<const double>{v.data(), static_cast<int64_t>(v.size())};
  };
  const auto each_list = [&](const auto& work) {
    for (int64_t list = 0; list < count; ++list) work(SerialGroup{}, list);
  };
  run_all<double>(view(scores), {batch.offsets.data(), count},
                  {{batch.marked_offsets.data(), count}, batch.marked.data()}, batch.steepness, view(g), view(h),
                  span(to.ranks), span(to.among), span(to.all_ranks), span(to.all_among), span(to.derivatives),
                  span(to.ap_derivatives), each_list, each_list);
  return to;
}

template <class Real>
constexpr double tolerance = sizeof(Real) == 4 ? 2e-6 : 1e-12;

/// Returns the index of the first entry that differs by more than its tolerance, or -1 if there is none.
int64_t first_far(const std::vector<double>& found, const std::vector<double>& expected, const auto& tolerated) {
  REQUIRE(found.size() == expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    if (!(std::fabs(found[i] - expected[i]) <= tolerated(expected[i]))) return static_cast<int64_t>(i);
  }
  return -1;
}

template <class Real>
void check_ranks(const std::vector<double>& found, const std::vector<double>& expected) {
  REQUIRE(first_far(found, expected, [](double rank) { return tolerance<Real> * rank; }) == -1);
}

/// Compares derivatives. They are sums of terms of both signs, so the tolerance is relative to the largest entry.
template <class Real>
void check_derivatives(const std::vector<double>& found, const std::vector<double>& expected) {
  double scale = 1;
  for (const double x : expected) scale = std::max(scale, std::fabs(x));
  REQUIRE(first_far(found, expected, [&](double) { return tolerance<Real> * scale; }) == -1);
}

template <class Real>
void check_all(const Results& found, const Results& expected) {
  check_ranks<Real>(found.ranks, expected.ranks);
  check_ranks<Real>(found.among, expected.among);
  check_ranks<Real>(found.all_ranks, expected.all_ranks);
  check_ranks<Real>(found.all_among, expected.all_among);
  check_derivatives<Real>(found.derivatives, expected.derivatives);
  check_derivatives<Real>(found.ap_derivatives, expected.ap_derivatives);
}

void check_same(const Results& a, const Results& b) {
  REQUIRE(a.ranks == b.ranks);
  REQUIRE(a.among == b.among);
  REQUIRE(a.all_ranks == b.all_ranks);
  REQUIRE(a.all_among == b.all_among);
  REQUIRE(a.derivatives == b.derivatives);
  REQUIRE(a.ap_derivatives == b.ap_derivatives);
}

}  // namespace

TEMPLATE_TEST_CASE("smooth ranks and derivatives by pairs on the GPU agree with the plain form", "", float, double) {
  const std::string shape = shapes[GENERATE(range(0, 7))];
  CAPTURE(shape);
  const Batch<TestType> batch(shape, {0, 1, 2, 31, 32, 33, 0, 127, 128, 129, 7, 255, 600, 0, 64, 2, 1, 300},
                              {3, 1, 0, 2, 40});
  const Results found = on_device(batch);
  check_all<TestType>(found, plain(batch));
  // The emulator reverses the order of lanes at each launch. The number of launches is odd, so the second call runs
  // each kernel in the other order.
  check_same(on_device(batch), found);
}

TEMPLATE_TEST_CASE("smooth ranks and derivatives on the GPU agree with the plain form with too few targets for a block",
                   "", float, double) {
  const int64_t every = GENERATE(2299, 100, 9);
  const std::string shape = shapes[GENERATE(1, 3, 6)];
  CAPTURE(shape, every);
  const Batch<TestType> batch(shape, {40, 3000, 5, 2300}, {every});
  const Results found = on_device(batch);
  check_all<TestType>(found, plain(batch));
  check_same(on_device(batch), found);
}

TEMPLATE_TEST_CASE("derivatives of smooth ranks on the GPU are 0 in lists without relevant rows", "", float, double) {
  const Batch<TestType> batch("normal", {40, 3, 200}, {0});
  check_all<TestType>(on_device(batch), plain(batch));
}

TEMPLATE_TEST_CASE("smooth ranks and derivatives of a list on the GPU do not depend on the rest of the batch", "",
                   float, double) {
  for (const int64_t n : {20, 100, 500, 2600}) {
    const Batch<TestType> alone("normal", {n}, {30}), among("normal", {77, 3, 1200, n, 260, 9}, {30});
    const Results found = on_device(alone), all = on_device(among);
    const auto part = [](const std::vector<double>& v, int64_t from, int64_t to) {
      return std::vector<double>(v.begin() + from, v.begin() + to);
    };
    const auto targets = [&](const std::vector<double>& v) {
      return part(v, among.marked_offsets[3], among.marked_offsets[4]);
    };
    const auto rows = [&](const std::vector<double>& v) { return part(v, among.offsets[3], among.offsets[4]); };
    CAPTURE(n);
    check_same(found, {targets(all.ranks), targets(all.among), rows(all.all_ranks), rows(all.all_among),
                       rows(all.derivatives), rows(all.ap_derivatives)});
  }
}

}  // namespace mr
