// The CPU's tables of exact metrics; placements by sorting.
#include "kernels/tables/metrics.h"

#include <algorithm>
#include <vector>

#include "kernels/cpu/launch.h"

namespace mr {
namespace cpu {
namespace {

template <class Real>
struct PlaceBySorting : Place<Real> {
  template <class Group>
  void operator()(const Group&, int64_t list) const {
    const Place<Real>& w = *this;
    const int64_t at = w.lists.begin(list), n = w.lists.size(list);
    const Precedes<Real> precedes{w.scores.data + at, w.relevance.data + at,
                                  w.keys.data + (w.keys.data != nullptr ? at : 0), w.ties};
    thread_local std::vector<int32_t> order;
    order.resize(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) order[i] = static_cast<int32_t>(i);
    std::sort(order.begin(), order.end(), precedes);
    int32_t relevant_above = 0;
    for (int64_t first = 0, last = 0; first < n; first = last) {
      int32_t relevant = 0;
      do {
        relevant += precedes.relevance[order[last]] >= w.threshold ? 1 : 0;
        ++last;
      } while (w.ties == Ties::mean && last < n && precedes.scores[order[last]] == precedes.scores[order[first]]);
      Placement place{static_cast<int32_t>(first), static_cast<int32_t>(last - first), relevant_above, relevant, 0};
      for (int64_t r = first; r < last; ++r, ++place.before) w.out[at + order[r]] = place;
      relevant_above += relevant;
    }
  }
};

template <class Real>
void place(int64_t count, const Place<Real>& work) {
  Backend::lists(count, PlaceBySorting<Real>{work});
}

template <class Real>
void with_fast_forms(MetricKernels<Real>& table) {
  table.place = &place<Real>;
}

}  // namespace
}  // namespace cpu

MR_CPU_TABLE(MetricKernels, float, cpu::with_fast_forms)
MR_CPU_TABLE(MetricKernels, double, cpu::with_fast_forms)

}  // namespace mr
