// Input and output of every exact metric: relevance and placements (order.h), which are computed once for all metrics.
#pragma once

#include <cstdint>

#include "kernels/core/group.h"
#include "kernels/core/view.h"
#include "kernels/ranking/order.h"

namespace mr {

/// Input and output of a metric. `counted`: the relevant rows, or for DCG the rows with a gain. k: the cutoff, or a
/// number larger than any list. `empty`: the value of a list without relevant rows.
template <class Real>
struct MetricViews {
  Span<const Placement> places;
  Ragged lists;
  Span<const float> relevance;
  Chosen counted;
  int64_t k;
  double empty;
  Span<Real> out;

  /// Returns the sum of f(placement, row) over the counted rows.
  template <class Group, class F>
  MR_HD double sum_counted(const Group& group, int64_t list, F f) const {
    const int64_t at = lists.begin(list);
    return group.sum(counted.size(list), [&](int64_t slot) {
      const int64_t row = at + counted(list, slot);
      return f(places[row], row);
    });
  }
  MR_HD double count(int64_t list) const { return static_cast<double>(counted.size(list)); }
  template <class Group>
  MR_HD void put(const Group& group, int64_t list, double value) const {
    group.each(1, [&](int64_t) { out[list] = static_cast<Real>(value); });
  }

  /// Returns how many ranks of the row's run of tied rows are within the first `ranks`.
  MR_HD static int64_t within(const Placement& p, int64_t ranks) {
    const int64_t room = ranks - p.above;
    return room < 0 ? 0 : room < p.tied ? room : p.tied;
  }
};

}  // namespace mr
