// Tests that BPR on the CPU, which computes the pairs of several lists together, has the bits of its plain form.
#include <cstring>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/losses/rows.h"
#include "tests/support/spans.h"

using namespace mr;
using mr::test::slots;
using mr::test::view;

namespace {

/// Lists of the given sizes. In list l, each row whose number plus l is not a multiple of 3 is relevant; a list of one
/// row has no pair, and in every fourth list no row is relevant.
template <class Real>
struct SampledLists {
  std::vector<Real> scores, value, derivative, curvature;
  std::vector<int64_t> offsets{0}, relevant_offsets{0}, drawn;
  std::vector<int32_t> relevant;
  std::vector<double> slopes, curvatures, weights;
  int64_t draws;

  SampledLists(const std::vector<int64_t>& sizes, int64_t each, bool infinite) : value(sizes.size()), draws(each) {
    for (size_t l = 0; l < sizes.size(); ++l) {
      for (int64_t i = 0; i < sizes[l]; ++i) {
        const int64_t row = offsets.back() + i;
        const auto x = static_cast<Real>((row * 37 % 101) - 50) / 4;
        scores.push_back(infinite && row % 11 == 0 ? -std::numeric_limits<Real>::infinity() : x);
        weights.push_back(row % 7 == 0 ? 0.0 : 0.5 + static_cast<double>(row % 3));
        if (l % 4 != 3 && (i + static_cast<int64_t>(l)) % 3 != 0) relevant.push_back(static_cast<int32_t>(i));
      }
      offsets.push_back(offsets.back() + sizes[l]);
      relevant_offsets.push_back(static_cast<int64_t>(relevant.size()));
    }
    derivative.resize(scores.size());
    curvature.resize(scores.size());
    drawn.resize(relevant.size() * static_cast<size_t>(draws));
    slopes.resize(drawn.size());
    curvatures.resize(drawn.size());
  }

  BprLoss<Real> work(bool weighed, bool curved) {
    const auto count = static_cast<int64_t>(value.size());
    return {.sampler = {},
            .scores = view(scores),
            .lists = {offsets.data(), count},
            .relevant = {{relevant_offsets.data(), count}, relevant.data()},
            .key = random_key(5, "draws"),
            .rows_before = 3,
            .draws = draws,
            .drawn = slots(drawn),
            .slopes = slots(slopes),
            .curvatures = slots(curvatures),
            .value = slots(value),
            .derivative = slots(derivative),
            .curvature = curved ? slots(curvature) : Span<Real>{},
            .weights = weighed ? view(weights) : Span<const double>{}};
  }
};

template <class T>
bool equal_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

}  // namespace

TEMPLATE_TEST_CASE("BPR of several lists on the CPU has the bits of its plain form", "", float, double) {
  using Real = TestType;
  // lists of two rows, as in batches of interactions; lists of all sizes; a list with more pairs than are computed
  // together
  const auto sizes =
      GENERATE(std::vector<int64_t>(300, 2), std::vector<int64_t>{0, 1, 2, 31, 32, 33, 0, 127, 128, 129, 1, 2, 2, 5},
               std::vector<int64_t>{3, 1000, 2, 700, 4, 2});
  const int64_t draws = GENERATE(1, 3);
  const bool weighed = GENERATE(false, true), curved = GENERATE(false, true), infinite = GENERATE(false, true);
  CAPTURE(sizes.size(), draws, weighed, curved, infinite);
  SampledLists<Real> fast(sizes, draws, infinite), plain(sizes, draws, infinite);
  const auto count = static_cast<int64_t>(sizes.size());
  cpu_table<RowLossKernels<Real>>().bpr(count, fast.work(weighed, curved));
  for (int64_t list = 0; list < count; ++list) plain.work(weighed, curved)(SerialGroup{}, list);
  CHECK(equal_bits(fast.value, plain.value));
  CHECK(equal_bits(fast.derivative, plain.derivative));
  CHECK(equal_bits(fast.curvature, plain.curvature));
}
