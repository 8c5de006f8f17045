// Tests that the losses that the CPU computes with vector loops have the same bits as their plain implementations, and
// that these loops have the same bits with every instruction set.
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/core/rng.h"
#include "kernels/losses/row_sums.h"
#include "kernels/losses/rows.h"
#include "kernels/losses/soft_rank_sums.h"
#include "kernels/tensor/normal.h"
#include "tests/support/simd_forms.h"
#include "tests/support/spans.h"

using namespace mr;
using mr::test::slots;
using mr::test::view;

namespace {

double score(const std::string& shape, int64_t i) {
  const double x = normal(random_key(11, shape.c_str()), static_cast<uint64_t>(i)),
               infinity = std::numeric_limits<double>::infinity();
  if (shape == "ties") return std::floor(2 * x);
  if (shape == "spread") return 40 * x;
  if (shape == "far") return 1e6 * x;
  if (shape == "infinite") return i % 5 == 0 ? infinity : i % 5 == 1 ? -infinity : x;
  return x;
}

/// Test input: one list of n rows. Grades repeat 0, 1, 2, but the last row always has grade 2. Rows with a grade above
/// 0 are relevant.
template <class Real>
struct OneList {
  std::vector<Real> scores, value = std::vector<Real>(1), derivative;
  std::vector<float> grades;
  std::vector<int64_t> offsets, relevant_offsets;
  std::vector<int32_t> relevant;
  std::vector<double> ideal{3.5}, spare;

  OneList(const std::string& shape, int64_t n, bool slopes) : offsets{0, n}, spare(static_cast<size_t>(5 * n)) {
    for (int64_t i = 0; i < n; ++i) {
      scores.push_back(static_cast<Real>(score(shape, n + i)));
      grades.push_back(i + 1 == n ? 2.0F : static_cast<float>(i % 3));
      if (grades.back() > 0) relevant.push_back(static_cast<int32_t>(i));
    }
    relevant_offsets = {0, static_cast<int64_t>(relevant.size())};
    if (slopes) derivative.assign(scores.size(), Real(-1));
  }
  Ragged lists() const { return {offsets.data(), 1}; }
  Chosen chosen() const { return {{relevant_offsets.data(), 1}, relevant.data()}; }
  Span<Real> slope() { return derivative.empty() ? Span<Real>{} : slots(derivative); }
  std::vector<Real> results() const {
    std::vector<Real> all = value;
    all.insert(all.end(), derivative.begin(), derivative.end());
    return all;
  }

  template <class Form>
  OwnScoreLoss<Real, Form> own_scores() {
    return {view(scores), view(grades), lists(), chosen(), slots(value), slope()};
  }
  SoftRankLoss<Real> soft_rank(double sd) {
    return {view(scores), view(grades), lists(), view(ideal), sd, slots(spare), slots(value), slope()};
  }
};

template <class Real>
bool same_bits(const std::vector<Real>& a, const std::vector<Real>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Real)) == 0;
}

/// Checks that the CPU's kernel and the plain form of the loss `work_of(list)` give the same bits.
template <class Real, class Kernel, class WorkOf>
void require_plain_bits(const std::string& shape, int64_t n, bool slopes, Kernel kernel, WorkOf work_of) {
  OneList<Real> fast(shape, n, slopes), plain(shape, n, slopes);
  kernel(1, work_of(fast));
  work_of(plain)(SerialGroup{}, 0);
  for (const Real x : fast.results()) REQUIRE(!std::isnan(x));
  REQUIRE(same_bits(fast.results(), plain.results()));
}

}  // namespace

TEMPLATE_TEST_CASE("CLiMF, TFMAP and SoftRank kernels on the CPU have the same bits as their plain forms", "", float,
                   double) {
  using Real = TestType;
  const int64_t n = GENERATE(1, 2, 3, 7, 8, 9, 16, 17, 40, 65, 130);
  const std::string shape = GENERATE("normal", "ties", "spread", "far", "infinite");
  const bool slopes = GENERATE(true, false);
  CAPTURE(n, shape, slopes);
  const auto& table = cpu_table<RowLossKernels<Real>>();
  if (shape != "infinite") {  // the loss CLiMF is infinite for infinite scores
    require_plain_bits<Real>(shape, n, slopes, table.climf,
                             [](auto& list) { return list.template own_scores<Climf>(); });
  }
  require_plain_bits<Real>(shape, n, slopes, table.tfmap, [](auto& list) { return list.template own_scores<Tfmap>(); });
  for (const double sd : {1.0, 0.05})
    require_plain_bits<Real>(shape, n, slopes, table.soft_rank, [&](auto& list) { return list.soft_rank(sd); });
}

TEST_CASE("RowLoops have the same bits with every instruction set") {
  const std::string shape = GENERATE("normal", "ties", "spread", "infinite");
  constexpr int64_t n = 77;
  std::vector<double> f, sigmas, curves;
  for (int64_t i = 0; i < n; ++i) {
    f.push_back(score(shape, i));
    sigmas.push_back(sigmoid(f.back()));
    curves.push_back(-sigmoid(f.back()) * sigmoid(-f.back()));
  }
  const auto found = [&](const cpu::RowLoops& loops) {
    std::vector<double> sums(2 * n), slopes(2 * n);
    for (int64_t j = 0; j < n; ++j) {
      loops.climf(f.data(), f[j], n, sums.data(), slopes.data());
      loops.tfmap(f.data(), sigmas.data(), curves.data(), f[j], sigmas[j], n, sums.data() + n, slopes.data() + n);
    }
    sums.insert(sums.end(), slopes.begin(), slopes.end());
    return sums;
  };
  const auto forms = simd_forms<cpu::RowLoops>();
  for (const auto& [name, loops] : forms) {
    CAPTURE(name);
    REQUIRE(same_bits(found(loops), found(forms[0].second)));
  }
}

TEST_CASE("SoftRankLoops have the same bits as the plain form with every instruction set") {
  const int64_t n = GENERATE(1, 5, 8, 33, 100);
  CAPTURE(n);
  constexpr int64_t padding = cpu::SoftRankLoops::padding, block = cpu::SoftRankLoops::block;
  std::vector<double> z;
  for (int64_t i = 0; i < n + padding; ++i) z.push_back(i % 7 == 6 ? 9.0 * (i % 2 ? 1 : -1) : 3 * score("normal", i));
  const auto forms = simd_forms<cpu::SoftRankLoops>();
  std::vector<std::vector<double>> worths;
  for (const auto& [name, loops] : forms) {
    CAPTURE(name);
    std::vector<double> below(z.size()), density(z.size()), ranks(static_cast<size_t>(n + 1 + 2 * padding)),
        steps(static_cast<size_t>(n + 1)), up(static_cast<size_t>(n + block)), changes(up.size());
    loops.normal(z.data(), n, below.data(), density.data());
    for (int64_t i = 0; i < n; ++i) {
      REQUIRE(below[i] == normal_below(z[i]));
      REQUIRE(density[i] == normal_density(z[i]));
    }
    double* const first = ranks.data() + padding;
    first[0] = 1;
    for (int64_t i = 0; i < n; ++i) loops.one_more(first, i + 1, below[i]);
    REQUIRE(std::accumulate(ranks.begin(), ranks.end(), 0.0) == Approx(1).epsilon(1e-12));
    for (int64_t r = 0; r < n; ++r)
      steps[r] = discount(static_cast<double>(r + 2)) - discount(static_cast<double>(r + 1));
    std::vector<double> all;
    for (const bool likely_below : {true, false}) {
      std::fill(up.begin(), up.end(), 0.5);
      int64_t count = 0;
      for (int64_t i = 0; i < n; ++i)
        if ((below[i] <= 0.5) == likely_below) up[count++] = below[i];
      loops.worth(first, steps.data(), n + 1, up.data(), count, likely_below, changes.data());
      all.insert(all.end(), changes.begin(), changes.begin() + count);
    }
    worths.push_back(all);
    REQUIRE(same_bits(worths.back(), worths.front()));
  }
}
