// SoftSort's nDCG (Prillo and Eisenschlos 2020, ICML): - sum_k d(k) sum_j p_kj G_j / IDCG, where the row p_k of a
// relaxed permutation matrix is the softmax over rows j of -|f_(k) - f_j|^power / tau, and f_(k) is the k-th largest
// score.
//
// Problem: sums over all rows j, for every place k, without the matrix.
// Idea: rank the rows, so that place k is a row i. The kernel K_ij = e^(-|f_i - f_j|^power / tau) is symmetric, and
// K_ii = 1 is the largest term of its sum Z_i, so no maximum is subtracted. With M_i = sum_j K_ij G_j / Z_i and a_i =
// d(k) / Z_i, the derivative by f_i is power / tau times the sum over j of
//   sign(f_i - f_j) |f_i - f_j|^(power - 1) K_ij (a_i (G_j - M_i) + a_j (G_i - M_j)).
// Ties have the sign 0. Power 1: all sums are recurrences over sorted rows (kernels/smooth/laplace.h). Power 2: pairs
// of rows, from each place outwards until the kernel is 0. Cost: O(N) after the sort for power 1, at most N^2
// exponentials for the value and the derivative each for power 2. Memory: `slots` numbers per row.
#pragma once

#include <cstdint>

#include "kernels/core/functions.h"
#include "kernels/core/view.h"
#include "kernels/losses/grades.h"
#include "kernels/ranking/discount.h"
#include "kernels/smooth/laplace.h"

namespace mr {

/// Computes the loss of every list, and its derivative by every score unless `derivative` is null. `order` has the
/// rows of every list by descending score, counted from 1 within the batch. `spare` has `slots` doubles per row.
/// `power` is 1 or 2.
template <class Real>
struct SoftSortNdcgLoss {
  static constexpr int64_t slots = LaplaceSums<Real>::slots + 5;
  Span<const Real> scores;
  Span<const float> relevance;
  Span<const int64_t> order;
  Ragged lists;
  Span<const double> ideal;
  int64_t power;
  double tau;
  Span<double> spare;
  Span<Real> value, derivative;

  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = lists.begin(list), n = lists.size(list);
    const bool slopes = derivative.data != nullptr;
    if (!grades_differ(group, relevance.data + at, n)) return write_zeros(group, list, at, n, value, derivative);
    double* const memory = spare.data + slots * at;
    const OfList of{{scores, order, lists, list, 1 / tau, memory + 5 * n},
                    tau,
                    memory,
                    memory + n,
                    memory + 2 * n,
                    memory + 3 * n,
                    memory + 4 * n};
    group.each(n, [&](int64_t i) { of.gain[i] = gain_of(relevance[at + i]) / ideal[list]; });
    power == 1 ? of.means_by_recurrences(group) : of.means_by_pairs(group);
    const double total = group.sum(n, [&](int64_t place) { return discount_at(place) * of.mean[of.sums.row(place)]; });
    group.each(1, [&](int64_t) { value[list] = static_cast<Real>(-total); });
    if (!slopes) return;
    group.each(n, [&](int64_t place) { of.share[of.sums.row(place)] *= discount_at(place); });
    power == 1 ? of.slopes_by_recurrences(group) : of.slopes_by_pairs(group);
    group.each(n, [&](int64_t i) { derivative[at + i] = static_cast<Real>(of.slope[i]); });
  }

 private:
  static MR_HD double discount_at(int64_t place) { return discount(static_cast<double>(place + 1)); }

  /// Arrays of one list, with an entry per row i. `gain`: G_i / IDCG, with G_i the gain. `mean`: M_i, the mean of G
  /// over all rows, weighted by the kernel K_ij. `share`: 1 / Z_i with Z_i = sum_j K_ij, later multiplied by the
  /// discount of the row's place. `slope`: the derivative by the score. `above`: sums over the rows above row i.
  struct OfList {
    LaplaceSums<Real> sums;
    double tau;
    double *gain, *mean, *share, *slope, *above;

    template <class Group>
    MR_HD void means_by_recurrences(const Group& group) const {
      sums.prepare(group);
      sums.weigh_all(group, [](int64_t) { return 1.0; });
      sums.kernels(group);
      group.each(sums.n, [&](int64_t i) { share[i] = 1 / (1 + sums.sum[i]); });
      sums.weigh_all(group, [&](int64_t i) { return gain[i]; });
      sums.kernels(group);
      group.each(sums.n, [&](int64_t i) { mean[i] = (gain[i] + sums.sum[i]) * share[i]; });
    }

    template <class Group>
    MR_HD void slopes_by_recurrences(const Group& group) const {
      group.each(sums.n, [&](int64_t i) { slope[i] = 0; });
      const auto add = [&](auto weight, auto factor) {
        sums.weigh_all(group, weight);
        sums.signed_kernels(group, above, [&](int64_t i, double sum) { slope[i] += factor(i) * sum; });
      };
      add([&](int64_t i) { return gain[i]; }, [&](int64_t i) { return share[i] / tau; });
      add([&](int64_t) { return 1.0; }, [&](int64_t i) { return -share[i] * mean[i] / tau; });
      add([&](int64_t i) { return share[i]; }, [&](int64_t i) { return gain[i] / tau; });
      add([&](int64_t i) { return share[i] * mean[i]; }, [&](int64_t) { return -1 / tau; });
    }

    template <class Group>
    MR_HD void means_by_pairs(const Group& group) const {
      group.each(sums.n, [&](int64_t place) {
        const int64_t i = sums.row(place);
        double total = 1, weighted = gain[i];
        near(place, [&](int64_t j, double, double kernel) {
          total += kernel;
          weighted += kernel * gain[j];
        });
        share[i] = 1 / total;
        mean[i] = weighted / total;
      });
    }

    template <class Group>
    MR_HD void slopes_by_pairs(const Group& group) const {
      group.each(sums.n, [&](int64_t place) {
        const int64_t i = sums.row(place);
        double total = 0;
        near(place, [&](int64_t j, double gap, double kernel) {
          total += gap * kernel * (share[i] * (gain[j] - mean[i]) + share[j] * (gain[i] - mean[j]));
        });
        slope[i] = 2 * total / tau;
      });
    }

    /// Calls visit(j, f_i - f_j, e^(-(f_i - f_j)^2 / tau)) for the rows j other than the row i at `place` by descending
    /// score, from it upwards and downwards, until the exponential is 0.
    template <class Visit>
    MR_HD void near(int64_t place, Visit visit) const {
      constexpr double zero_beyond = 750;
      const double own = sums.scores[sums.row(place)];
      for (const int64_t step : {-1, 1}) {
        for (int64_t p = place + step; p >= 0 && p < sums.n; p += step) {
          const int64_t j = sums.row(p);
          const double other = sums.scores[j], gap = own == other ? 0 : own - other, exponent = gap * gap / tau;
          if (exponent > zero_beyond) break;
          visit(j, gap, portable::exp(-exponent));
        }
      }
    }
  };
};

}  // namespace mr
