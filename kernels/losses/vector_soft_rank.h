// SoftRank by the CPU's vector loops (soft_rank_sums.h).
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/core/scratch.h"
#include "kernels/core/threads.h"
#include "kernels/losses/soft_rank.h"
#include "kernels/losses/soft_rank_sums.h"

namespace mr::cpu {

/// Computes SoftRank in vector registers. Its results have the same bits as those of the plain form.
template <class Real>
struct VectorSoftRank : SoftRankLoss<Real> {
  void operator()(const SerialGroup& group, int64_t list) const {
    static constinit thread_local OfThread<Scratch> the_my;
    Scratch& my = the_my.get();
    const auto kept = my.in_use();
    const auto& w = *this;
    const int64_t at = w.lists.begin(list), n = w.lists.size(list);
    if (w.derivative.data != nullptr) std::fill_n(w.derivative.data + at, n, Real(0));
    double total = 0;
    if (grades_differ(group, w.relevance.data + at, n)) {
      my.resize(n);
      for (int64_t j = 0; j < n; ++j) {
        const double gain = gain_of(w.relevance[at + j]);
        if (gain > 0) total -= gain / w.ideal[list] * of_row(my, at, n, j, gain / w.ideal[list]);
      }
    }
    w.value[list] = static_cast<Real>(total);
  }

 private:
  struct Scratch {
    std::vector<double> discounts, steps, z, above, density, ranks, slopes, up, changes;
    std::vector<int64_t> rows;
    auto in_use() { return Kept(discounts, steps, z, above, density, ranks, slopes, up, changes, rows); }

    void resize(int64_t n) {
      const auto size = static_cast<size_t>(n + 2 * SoftRankLoops::padding);
      for (auto* const each : {&discounts, &steps, &z, &above, &density, &ranks, &slopes}) each->assign(size, 0.0);
      for (auto* const each : {&up, &changes}) each->assign(size + SoftRankLoops::block, 0.0);
      rows.resize(size);
      for (int64_t r = 0; r < n; ++r) discounts[r] = discount(static_cast<double>(r + 1));
      for (int64_t r = 0; r + 1 < n; ++r) steps[r] = discounts[r + 1] - discounts[r];
    }
    /// Returns a pointer to the first rank's entry in `ranks`, which has spare entries before it: loops read
    /// ranks[-1], which is 0.
    double* of_ranks() { return ranks.data() + SoftRankLoops::padding; }
  };

  /// Returns the expected discount of row j. Adds its derivative by every score, times -weight, to the derivative.
  double of_row(Scratch& my, int64_t at, int64_t n, int64_t j, double weight) const {
    for (int64_t i = 0; i < n; ++i) my.z[i] = this->z(at, i, j);
    soft_rank_loops().normal(my.z.data(), n, my.above.data(), my.density.data());
    double* const ranks = my.of_ranks();
    std::fill(my.ranks.begin(), my.ranks.end(), 0.0);
    ranks[0] = 1;
    int64_t rows = 1;
    for (int64_t i = 0; i < n; ++i) {
      if (i % 64 == 0) check_interrupt();
      if (i != j) soft_rank_loops().one_more(ranks, rows++, my.above[i]);
    }
    double expected = 0;
    for (int64_t r = 0; r < n; ++r) expected += ranks[r] * my.discounts[r];
    if (this->derivative.data != nullptr) add_slopes(my, at, n, j, weight);
    return expected;
  }

  void add_slopes(Scratch& my, int64_t at, int64_t n, int64_t j, double weight) const {
    std::fill_n(my.slopes.begin(), n, 0.0);
    for (const bool likely_below : {true, false}) {
      int64_t count = 0;
      for (int64_t i = 0; i < n; ++i) {
        // Leaves out row j itself, and each row i whose density of the score difference is 0, because the derivative
        // by its score is 0.
        if (i == j || my.density[i] == 0 || (my.above[i] <= 0.5) != likely_below) continue;
        my.rows[count] = i;
        my.up[count++] = my.above[i];
      }
      std::fill_n(my.up.begin() + count, SoftRankLoops::block, 0.5);
      check_interrupt();
      soft_rank_loops().worth(my.of_ranks(), my.steps.data(), n, my.up.data(), count, likely_below, my.changes.data());
      for (int64_t k = 0; k < count; ++k)
        my.slopes[my.rows[k]] = my.changes[k] * my.density[my.rows[k]] / (this->sd * 1.41421356237309504880);
    }
    double all = 0;
    for (int64_t i = 0; i < n; ++i) {
      this->derivative[at + i] -= static_cast<Real>(weight * my.slopes[i]);
      all += my.slopes[i];
    }
    this->derivative[at + j] += static_cast<Real>(weight * all);
  }
};

}  // namespace mr::cpu
