// What every exact metric reads: placements, made once for all of them, and relevance.
#pragma once

#include <cstdint>

#include "kernels/core/group.h"
#include "kernels/core/view.h"
#include "kernels/math/order.h"

namespace mr {

/// What every metric reads and writes. k: ranks that count (the whole list: a number that no list reaches). `empty`:
/// value without relevant rows.
template <class Real>
struct MetricViews {
  Span<const Placement> places;
  Ragged lists;
  Span<const float> relevance;
  float threshold;
  int64_t k;
  double empty;
  Span<Real> out;

  MR_HD bool relevant(int64_t row) const { return relevance[row] >= threshold; }

  /// Sum of f(placement, row) over the relevant rows of the list.
  template <class Group, class F>
  MR_HD double sum_relevant(const Group& group, int64_t list, F f) const {
    const int64_t at = lists.begin(list);
    return group.sum(lists.size(list), [&](int64_t i) { return relevant(at + i) ? f(places[at + i], at + i) : 0.0; });
  }
  template <class Group>
  MR_HD double count_relevant(const Group& group, int64_t list) const {
    return sum_relevant(group, list, [](const Placement&, int64_t) { return 1.0; });
  }
  template <class Group>
  MR_HD void put(const Group& group, int64_t list, double value) const {
    group.each(1, [&](int64_t) { out[list] = static_cast<Real>(value); });
  }

  /// How many of the row's run lie within the first `ranks` ranks.
  MR_HD static int64_t within(const Placement& p, int64_t ranks) {
    const int64_t room = ranks - p.above;
    return room < 0 ? 0 : room < p.tied ? room : p.tied;
  }
};

}  // namespace mr
