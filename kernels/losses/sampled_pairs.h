// Losses over pairs of a relevant row and a row that is not relevant and is sampled from the same list
// (row_samplers.h).
#pragma once

#include <cstdint>

#include "kernels/core/group.h"
#include "kernels/losses/row_samplers.h"
#include "kernels/losses/row_weights.h"

namespace mr {

/// Computes the loss of every list: the sum over relevant rows of the mean cost of the row's sampled pairs, times the
/// row's weight. Also computes the derivative by every score unless `derivative` is null, and the second derivative by
/// each score alone unless `curvature` is null. `draws` rows are sampled per relevant row, so `drawn`, `slopes` and
/// `curvatures` have `draws` entries for each.
template <class Real, class Sampler>
struct SampledLoss {
  Sampler sampler;
  Span<const Real> scores;
  Ragged lists;
  Chosen relevant;
  RandomKey key;
  int64_t rows_before;  // number of rows in earlier parts of the batch, if the batch is computed in parts
  int64_t draws;
  Span<int64_t> drawn;
  Span<double> slopes, curvatures;
  Span<Real> value, derivative, curvature;
  Span<const double> weights = {};

  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = lists.begin(list), first = relevant.begin(list) * draws;
    const double total = group.sum(pairs(list), [&](int64_t k) {
      const int64_t row = at + relevant(list, k / draws);
      const double own = row_weight(weights, row);
      drawn[first + k] = -1;
      if (own == 0) return 0.0;
      const DrawnPair pair = sampler(draws_of(list, row), k % draws);
      drawn[first + k] = pair.other;
      slopes[first + k] = own * pair.slope / static_cast<double>(draws);
      if (curvature.data != nullptr) curvatures[first + k] = own * pair.curvature / static_cast<double>(draws);
      return own * pair.value / static_cast<double>(draws);
    });
    finish(group, list, total);
  }

  /// Returns the number of pairs of a list: 0 if all its rows are relevant.
  MR_HD int64_t pairs(int64_t list) const {
    return lists.size(list) > relevant.size(list) ? relevant.size(list) * draws : 0;
  }
  /// Returns the input of the sampler for a relevant row.
  MR_HD RowDraws<Real> draws_of(int64_t list, int64_t row) const {
    return {scores,
            relevant,
            key,
            list,
            lists.begin(list),
            lists.size(list) - relevant.size(list),
            row,
            static_cast<uint64_t>(rows_before + row)};
  }
  /// Writes the list's value, and its derivatives by the scores from those of the drawn pairs.
  template <class Group>
  MR_HD void finish(const Group& group, int64_t list, double total) const {
    group.each(1, [&](int64_t) { value[list] = static_cast<Real>(total); });
    if (derivative.data != nullptr) add_up(group, list, slopes, -1, derivative);
    if (curvature.data != nullptr) add_up(group, list, curvatures, 1, curvature);
  }

 private:
  /// Sums up the terms of the drawn pairs in `out`: each adds its term to its drawn row, and sign times its term to its
  /// relevant row.
  template <class Group>
  MR_HD void add_up(const Group& group, int64_t list, const Span<double>& terms, int sign,
                    const Span<Real>& out) const {
    const int64_t at = lists.begin(list), positive = pairs(list) > 0 ? relevant.size(list) : 0;
    group.each(lists.size(list), [&](int64_t i) { out[at + i] = 0; });
    // One lane adds up the terms in the order of the draws, because several draws may give the same row.
    group.each(1, [&](int64_t) {
      int64_t pair = relevant.begin(list) * draws;
      for (int64_t p = 0; p < positive; ++p) {
        for (const int64_t end = pair + draws; pair < end; ++pair) {
          if (drawn[pair] < 0) continue;
          const auto term = static_cast<Real>(terms[pair]);
          out[at + relevant(list, p)] += sign < 0 ? -term : term;
          out[at + drawn[pair]] += term;
        }
      }
    });
  }
};
template <class Real>
using BprLoss = SampledLoss<Real, UniformSampler>;
template <class Real>
using LambdaFmLoss = SampledLoss<Real, RankedSampler>;
template <class Real>
using WarpLoss = SampledLoss<Real, WarpSampler>;

}  // namespace mr
