// Compares losses on the GPU with those on the CPU: losses over rows, over lists and over sampled pairs. One batch has
// lists of many sizes around those of warps and blocks. Results have the same bits in both orders of the emulated
// lanes.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/core/rng.h"
#include "kernels/losses/rows.h"
#include "kernels/tensor/normal.h"
#include "tests/support/on_device.h"

namespace mr {
namespace {

using test::OnHost;

double score(const std::string& shape, int64_t i) {
  const double x = normal(random_key(7, shape.c_str()), static_cast<uint64_t>(i)),
               infinity = std::numeric_limits<double>::infinity();
  if (shape == "equal") return 0.25;
  if (shape == "ties") return std::floor(2 * x);
  if (shape == "spread") return 300 * x;
  if (shape == "far") return 1e9 * x;
  // infinite scores: the losses have limits there, except for those that are infinite
  if (shape == "infinite") return i % 5 == 0 ? infinity : i % 5 == 1 ? -infinity : static_cast<double>(i % 7);
  return x;
}

/// Test input: lists whose grades repeat 0, 1, 2 (every third list: all 1); also the order of their rows by grade, and
/// the rows with a grade of at least 1.
template <class Real>
struct Batch {
  std::vector<Real> scores;
  std::vector<float> grades;
  std::vector<int64_t> offsets{0}, relevant_offsets{0}, order;
  std::vector<int32_t> by_grade, relevant;
  std::vector<Placement> places;
  std::vector<double> ideal, harmonic{0}, weights;

  Batch(const std::string& shape, const std::vector<int64_t>& sizes) {
    for (size_t list = 0; list < sizes.size(); ++list) add(shape, sizes[list], list % 3 == 2);
    for (int64_t n = 1; n < 200; ++n) harmonic.push_back(harmonic.back() + 1 / static_cast<double>(n));
  }
  int64_t count() const { return static_cast<int64_t>(ideal.size()); }

 private:
  void add(const std::string& shape, int64_t n, bool alike) {
    const auto at = static_cast<int64_t>(scores.size());
    for (int64_t i = 0; i < n; ++i) {
      scores.push_back(static_cast<Real>(score(shape, n + i)));
      weights.push_back(0.5 * static_cast<double>(i % 4));
      grades.push_back(alike ? 1.0F : static_cast<float>(i % 3));
      if (grades.back() >= 1) relevant.push_back(static_cast<int32_t>(i));
    }
    std::vector<int32_t> rows(static_cast<size_t>(n));
    std::iota(rows.begin(), rows.end(), 0);
    std::stable_sort(rows.begin(), rows.end(), [&](int32_t a, int32_t b) { return grades[at + a] > grades[at + b]; });
    by_grade.insert(by_grade.end(), rows.begin(), rows.end());
    std::stable_sort(rows.begin(), rows.end(), [&](int32_t a, int32_t b) { return scores[at + a] > scores[at + b]; });
    places.resize(scores.size());
    for (int64_t k = 0; k < n; ++k) places[at + rows[k]].above = static_cast<int32_t>(k);
    for (const int32_t row : rows) order.push_back(at + row + 1);
    offsets.push_back(static_cast<int64_t>(scores.size()));
    relevant_offsets.push_back(static_cast<int64_t>(relevant.size()));
    ideal.push_back(1 + static_cast<double>(n));
  }
};

using Results = std::map<std::string, std::vector<double>>;

/// Runs the kernels of losses over random rankings: draws three rankings of every list, computes gradients by PL-Rank
/// and by log probabilities, and sums values and gradients over the rankings of a list. The number of launches is even.
template <template <class> class Array, class Real>
void run_rankings(const RowLossKernels<Real>& table, const Batch<Real>& batch, const Array<Real>& scores,
                  const Ragged& lists, Results& found) {
  const auto rows = static_cast<int64_t>(batch.scores.size()), copies = int64_t{3};
  const Array<double> keys(copies * rows);
  table.random_keys(2 * batch.count(), {scores.span(), lists, random_key(5, "rankings"), 11, 2, copies, keys.span()});
  const auto drawn = keys.values();
  found["keys"].assign(drawn.begin(), drawn.end());
  std::vector<int64_t> order(static_cast<size_t>(copies * rows)), ranks;
  std::iota(order.begin(), order.end(), 1);
  for (int64_t copy = 0; copy < copies; ++copy) {
    for (size_t list = 0; list + 1 < batch.offsets.size(); ++list) {
      const auto from = order.begin() + copy * rows;
      std::stable_sort(from + batch.offsets[list], from + batch.offsets[list + 1],
                       [&](int64_t a, int64_t b) { return drawn[a - 1] > drawn[b - 1]; });
    }
  }
  std::vector<double> gains, discounts, weights;
  for (const float y : batch.grades) gains.push_back(y);
  for (int64_t r = 1; r < 200; ++r) discounts.push_back(1 / static_cast<double>(r));
  for (size_t list = 0; list + 1 < batch.offsets.size(); ++list) {
    ranks.push_back(std::min<int64_t>(batch.offsets[list + 1] - batch.offsets[list], 9));
    weights.push_back(1 + static_cast<double>(list));
  }
  const Array<int64_t> by_rank(order), counted(ranks);
  const Array<double> gain(gains), discount(discounts), weight(weights), shares(copies * rows), out(copies * rows),
      powers(rows), near(batch.count());
  table.score_powers(batch.count(), {scores.span(), lists, powers.span(), near.span()});
  // a second time, so that run_rankings makes an even number of launches
  table.score_powers(batch.count(), {scores.span(), lists, powers.span(), near.span()});
  const auto slopes = [&](const char* name, const Span<const double>& of) {
    table.ranking_slopes(copies * batch.count(),
                         {scores.span(), lists, by_rank.span(), counted.span(), of, discount.span(), weight.span(),
                          powers.span(), near.span(), shares.span(), out.span()});
    for (const double x : out.values()) found[name].push_back(x);
  };
  slopes("slopes by PL-Rank", gain.span());
  slopes("slopes of log probabilities", {});
  std::vector<double> values;
  for (int64_t i = 0; i < copies * batch.count(); ++i) values.push_back(static_cast<double>(i));
  const Array<double> of_copies(values), value(std::vector<double>(ranks.size(), 1.0)),
      plain(std::vector<double>(static_cast<size_t>(rows), 2.0)),
      weighted(std::vector<double>(static_cast<size_t>(rows), 3.0));
  table.sum_of_rankings(batch.count(),
                        {of_copies.span(), out.span(), lists, copies, value.span(), plain.span(), weighted.span()});
  for (const auto& each : {value.values(), plain.values(), weighted.values()})
    found["sums over rankings"].insert(found["sums over rankings"].end(), each.begin(), each.end());
}

/// Runs the kernel of every loss. Returns, by the loss's name, its values followed by its derivatives.
template <template <class> class Array, class Real>
Results run_all(const RowLossKernels<Real>& table, const Batch<Real>& batch) {
  const Array<Real> scores(batch.scores), thresholds(std::vector<Real>{Real(-0.5), Real(0.25), Real(1.5)});
  const Array<float> grades(batch.grades);
  const Array<int64_t> offsets(batch.offsets), relevant_offsets(batch.relevant_offsets);
  const Array<int32_t> by_grade(batch.by_grade), chosen(batch.relevant);
  const Array<Placement> places(batch.places);
  const Array<double> ideal(batch.ideal), harmonic(batch.harmonic), weights(batch.weights);
  const int64_t count = batch.count(), rows = static_cast<int64_t>(batch.scores.size());
  const int64_t pairs = static_cast<int64_t>(batch.relevant.size()) * 2;
  const Ragged lists{offsets.data(), count};
  const Chosen relevant{{relevant_offsets.data(), count}, chosen.data()}, sorted{lists, by_grade.data()};
  Results found;
  const auto run = [&](const char* name, auto kernel, auto work) {
    const Array<Real> value(count), derivative(rows);
    work.value = value.span();
    work.derivative = derivative.span();
    kernel(count, work);
    std::vector<double>& out = found[name];
    for (const auto& each : {value.values(), derivative.values()}) out.insert(out.end(), each.begin(), each.end());
  };
  run("squared_error", table.squared_error, SquaredErrorLoss<Real>{{}, scores.span(), grades.span(), lists, {}, {}});
  run("binary_cross_entropy", table.binary_cross_entropy,
      BinaryCrossEntropyLoss<Real>{{}, scores.span(), grades.span(), lists, {}, {}});
  run("squared_hinge", table.squared_hinge, SquaredHingeLoss<Real>{{}, scores.span(), grades.span(), lists, {}, {}});
  const Array<Real> by_threshold(3 * count);
  run("ordinal", table.ordinal,
      OrdinalLoss<Real>{thresholds.span(), scores.span(), grades.span(), lists, {}, {}, by_threshold.span()});
  for (const Real slope : by_threshold.values()) found["thresholds of ordinal"].push_back(slope);
  run("listnet", table.listnet, ListNetLoss<Real>{scores.span(), grades.span(), lists, {}, {}});
  run("softmax", table.softmax_cross_entropy,
      SoftmaxCrossEntropyLoss<Real>{scores.span(), grades.span(), lists, {}, {}});
  const Array<double> tops(rows), totals(rows), slopes(rows);
  for (const bool top_heavy : {false, true})
    run(top_heavy ? "p_listmle" : "listmle", table.listmle,
        ListMleLoss<Real>{scores.span(), sorted, top_heavy, tops.span(), totals.span(), {}, {}, weights.span()});
  run("climf", table.climf, ClimfLoss<Real>{scores.span(), grades.span(), lists, relevant, {}, {}});
  run("tfmap", table.tfmap, TfmapLoss<Real>{scores.span(), grades.span(), lists, relevant, {}, {}});
  const Array<double> five(5 * rows), spare(NeuralNdcgLoss<Real>::slots(4) * rows);
  run("soft_rank", table.soft_rank,
      SoftRankLoss<Real>{scores.span(), grades.span(), lists, ideal.span(), 0.7, five.span(), {}, {}});
  run("neural_ndcg", table.neural_ndcg,
      NeuralNdcgLoss<Real>{scores.span(), grades.span(), lists, ideal.span(), 0.7, 4, 1e-9, spare.span(), {}, {}});
  run("top_relu", table.top_relu,
      TopReluLoss<Real>{scores.span(), grades.span(), places.span(), lists, 5, slopes.span(), {}, {}});
  run("top_sigmoid", table.top_sigmoid,
      TopSigmoidLoss<Real>{scores.span(), grades.span(), places.span(), lists, 5, slopes.span(), {}, {}});
  for (const SoftTop of : {SoftTop::precision, SoftTop::recall, SoftTop::hit, SoftTop::cross_entropy})
    run(("soft top " + std::to_string(static_cast<int>(of))).c_str(), table.soft_top,
        SoftTopLoss<Real>{scores.span(), grades.span(), places.span(), lists, relevant, 3, 0.7, 1.0F, of, {}, {}});
  const Array<int64_t> order(batch.order);
  const Array<double> four(ProjectedNdcgLoss<Real>::slots * rows);
  for (const double eps : {0.3, 5.0})
    run(("projected " + std::to_string(eps)).c_str(), table.projected_ndcg,
        ProjectedNdcgLoss<Real>{
            scores.span(), grades.span(), order.span(), lists, ideal.span(), eps, four.span(), {}, {}});
  const Array<double> nine(SoftSortNdcgLoss<Real>::slots * rows);
  for (const int64_t power : {1, 2})
    run(("softsort " + std::to_string(power)).c_str(), table.softsort_ndcg,
        SoftSortNdcgLoss<Real>{
            scores.span(), grades.span(), order.span(), lists, ideal.span(), power, 0.7, nine.span(), {}, {}});
  const Array<int64_t> drawn(pairs);
  const Array<double> drawn_slopes(pairs), drawn_curvatures(pairs);
  const auto sampled = [&](const char* name, auto kernel, auto sampler) {
    for (const bool newton : {false, true}) {
      const std::string full_name = name + std::string(newton ? ", newton" : "");
      const Array<Real> curvature(rows);
      run(full_name.c_str(), kernel,
          SampledLoss<Real, decltype(sampler)>{sampler,
                                               scores.span(),
                                               lists,
                                               relevant,
                                               random_key(3, "test"),
                                               0,
                                               2,
                                               drawn.span(),
                                               drawn_slopes.span(),
                                               drawn_curvatures.span(),
                                               {},
                                               {},
                                               newton ? curvature.span() : Span<Real>{},
                                               weights.span()});
      if (!newton) continue;
      for (const Real x : curvature.values()) found[full_name].push_back(x);
    }
  };
  sampled("bpr", table.bpr, UniformSampler{});
  sampled("lambdafm", table.lambdafm, RankedSampler{4, 0.4});
  sampled("warp", table.warp, WarpSampler{0.5, 3, harmonic.span()});
  run_rankings<Array>(table, batch, scores, lists, found);
  // One more launch, so that run_all makes an odd number of launches. The emulator reverses the order of lanes at each
  // launch, and a second call of run_all then runs each kernel in the other order.
  const Array<Real> product(rows);
  table.times_slope(rows, {scores.span(), scores.span(), product.span()});
  for (const Real x : product.values()) found["times_slope"].push_back(x);
  return found;
}

/// Requires equal results: both are NaN, both are the same infinity, or they differ by at most `tolerance` times the
/// largest finite value.
void check_near(const Results& found, const Results& expected, double tolerance) {
  REQUIRE(found.size() == expected.size());
  for (const auto& [name, values] : expected) {
    CAPTURE(name);
    const std::vector<double>& mine = found.at(name);
    REQUIRE(mine.size() == values.size());
    double scale = 1;
    for (const double x : values) scale = std::isfinite(x) ? std::max(scale, std::fabs(x)) : scale;
    for (size_t i = 0; i < values.size(); ++i) {
      CAPTURE(i, mine[i], values[i]);
      const bool same = mine[i] == values[i] || (std::isnan(mine[i]) && std::isnan(values[i]));
      REQUIRE((same || std::fabs(mine[i] - values[i]) <= tolerance * scale));
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("losses on the GPU agree with the CPU's for lists of all lengths", "", float, double) {
  const std::string shape = GENERATE(as<std::string>{}, "normal", "equal", "ties", "spread", "far", "infinite");
  CAPTURE(shape);
  const Batch<TestType> batch(shape, {0, 1, 2, 31, 32, 33, 0, 3, 7});
  const Results found = run_all<test::OnDevice>(*cuda_table<RowLossKernels<TestType>>(), batch);
  check_near(found, run_all<OnHost>(cpu_table<RowLossKernels<TestType>>(), batch),
             sizeof(TestType) == 4 ? 2e-6 : 1e-11);
  // run_all makes an odd number of launches, after each of which the emulator reverses the order of lanes: this second
  // call runs each loss in the other order
  const Results again = run_all<test::OnDevice>(*cuda_table<RowLossKernels<TestType>>(), batch);
  for (const auto& [name, values] : found) {
    CAPTURE(name);
    for (size_t i = 0; i < values.size(); ++i)
      REQUIRE((again.at(name)[i] == values[i] || std::isnan(values[i]) == std::isnan(again.at(name)[i])));
  }
}

}  // namespace mr
