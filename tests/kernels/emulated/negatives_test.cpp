// Compares losses of relevant rows against negative rows, for lists of edge sizes. The CPU's vector loops must have the
// same bits as the plain loops, and the GPU must agree with the CPU.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/core/launch_cpu.h"
#include "kernels/core/rng.h"
#include "kernels/losses/negatives/rows.h"
#include "kernels/tensor/normal.h"
#include "tests/support/on_device.h"

namespace mr {
namespace {

using test::OnHost;

template <class Real>
struct Batch {
  std::vector<Real> scores, upstream;
  std::vector<float> grades;
  std::vector<int64_t> offsets{0};

  explicit Batch(const std::string& shape) {
    for (const int64_t n : {0, 1, 2, 31, 32, 33, 127, 128, 129}) {
      for (int64_t i = 0; i < n; ++i) {
        const double x = normal(random_key(7, "scores"), static_cast<uint64_t>(scores.size()));
        scores.push_back(static_cast<Real>(shape == "ties" ? std::floor(2 * x) : shape == "spread" ? 40 * x : x));
        grades.push_back(static_cast<float>(i % 4 == 1 || (n > 40 && i > 120) ? 1 + i % 3 : 0));
      }
      offsets.push_back(static_cast<int64_t>(scores.size()));
      upstream.push_back(static_cast<Real>(0.5 + 0.25 * static_cast<double>(offsets.size() % 3)));
    }
  }
  int64_t count() const { return static_cast<int64_t>(offsets.size()) - 1; }
};

using Results = std::map<std::string, std::vector<double>>;

template <template <class> class Array, class Real>
Results run_all(const NegativesKernels<Real>& table, const Batch<Real>& batch) {
  const Array<Real> scores(batch.scores), upstream(batch.upstream);
  const Array<float> grades(batch.grades);
  const Array<int64_t> offsets(batch.offsets);
  const int64_t count = batch.count(), rows = static_cast<int64_t>(batch.scores.size());
  const Ragged lists{offsets.data(), count};
  Results found;
  const auto keep = [&](const std::string& name, const Array<Real>& made) {
    for (const Real x : made.values()) found[name].push_back(x);
  };
  for (const Part part : {Part::all, Part::relevant, Part::others}) {
    const std::string name = "log sum of part " + std::to_string(static_cast<int>(part));
    const PartScores<Real> of{scores.span(), grades.span(), lists, part, Real(0.2)};
    const Array<Real> value(count), powers(rows), total(count), slopes(rows);
    table.part_log_sum(count, {of, value.span(), powers.span(), total.span()});
    table.part_log_sum_vjp(count, {of, powers.span(), total.span(), upstream.span(), slopes.span()});
    keep(name, value);
    keep(name, slopes);
  }
  for (const Surrogate surrogate : {Surrogate::tanh, Surrogate::relu, Surrogate::atan}) {
    for (const bool whole : {false, true}) {
      const std::string name = "psl " + std::to_string(static_cast<int>(surrogate)) + (whole ? " of lists" : "");
      const PslScores<Real> of{scores.span(), grades.span(),
                               lists,         {surrogate, Real(2), Real(0.5)},
                               whole,         whole ? Span<const Real>{} : scores.span()};
      const Array<Real> value(count), tops(rows), totals(rows), slopes(rows);
      table.psl(count, {of, tops.span(), totals.span(), value.span()});
      table.psl_vjp(count, {of, tops.span(), totals.span(), upstream.span(), slopes.span()});
      keep(name, value);
      keep(name, slopes);
    }
  }
  for (const int64_t k : {1, 20, 1000}) {
    const Array<Real> value(count);
    table.kth_largest(count, {scores.span(), lists, k, value.span()});
    keep("largest " + std::to_string(k), value);
  }
  const Array<Real> parameters(std::vector<Real>{Real(0.75), Real(0.125), Real(0.5), Real(0.25), Real(-0.125)});
  const Array<Real> value(count), slopes(rows), by_parameter(5 * count);
  table.llpauc(count, {parameters.span(), scores.span(), grades.span(), lists, 5, 1.5, 10, value.span(), slopes.span(),
                       by_parameter.span()});
  keep("llpauc", value);
  keep("llpauc", slopes);
  keep("llpauc by parameters", by_parameter);
  // Losses over all items of a catalogue visit it block by block: here two blocks of items, for 8 users.
  const int64_t users = 8, width = 40;
  const Array<double> tops(std::vector<double>(users, -HUGE_VAL)), totals(std::vector<double>(users, 0.0));
  const Array<Real> sums(users);
  for (const int64_t first : {0, 100})
    table.add_to_log_sums(
        users, {{scores.span().data + first, users * width}, width, 0.5, tops.span(), totals.span(), sums.span()});
  keep("catalogue", sums);
  const Array<Real> block(std::vector<Real>(batch.scores.begin(), batch.scores.begin() + users * width));
  table.catalogue_weights(users, {block.span(), width, 0.5, tops.span(), totals.span(), upstream.span()});
  keep("catalogue", block);
  return found;
}

/// Requires equal results: both are NaN, both are the same infinity, or they differ by at most `tolerance` times the
/// largest finite value. Results whose names are in `loose` may differ by rounding.
void check_near(const Results& found, const Results& expected, double tolerance, const std::string& loose = "none") {
  REQUIRE(found.size() == expected.size());
  for (const auto& [name, values] : expected) {
    const std::vector<double>& mine = found.at(name);
    REQUIRE(mine.size() == values.size());
    const double least = name.find(loose) == std::string::npos ? tolerance : std::max(tolerance, 1e-6);
    double scale = 1;
    for (const double x : values) scale = std::isfinite(x) ? std::max(scale, std::fabs(x)) : scale;
    for (size_t i = 0; i < values.size(); ++i) {
      CAPTURE(name, i, mine[i], values[i]);
      const bool same = mine[i] == values[i] || (std::isnan(mine[i]) && std::isnan(values[i]));
      REQUIRE((same || std::fabs(mine[i] - values[i]) <= least * scale));
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("losses among other rows have the bits of their plain forms, and on the GPU agree with the CPU's",
                   "", float, double) {
  const std::string shape = GENERATE(as<std::string>{}, "normal", "ties", "spread");
  CAPTURE(shape);
  const Batch<TestType> batch(shape);
  const Results expected = run_all<OnHost>(cpu_table<NegativesKernels<TestType>>(), batch);
  auto plain = NegativesKernels<TestType>::template made_for<cpu::Backend>();
  const double tolerance = sizeof(TestType) == 4 ? 2e-6 : 1e-11;
  // these three are taken from the vector loops, because their sums are added in another order than in the plain loops
  plain.llpauc = cpu_table<NegativesKernels<TestType>>().llpauc;
  plain.add_to_log_sums = cpu_table<NegativesKernels<TestType>>().add_to_log_sums;
  plain.catalogue_weights = cpu_table<NegativesKernels<TestType>>().catalogue_weights;
  check_near(run_all<OnHost>(plain, batch), expected, 0, "of lists");
  const Results found = run_all<test::OnDevice>(*cuda_table<NegativesKernels<TestType>>(), batch);
  check_near(found, expected, tolerance);
  // run_all makes an odd number of launches, after each of which the emulator reverses the order of lanes: this second
  // call runs each loss in the other order
  const Results again = run_all<test::OnDevice>(*cuda_table<NegativesKernels<TestType>>(), batch);
  check_near(again, found, 0);
}

}  // namespace mr
