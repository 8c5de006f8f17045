#include "kernels/tables/training.h"

#include "kernels/cpu/launch.h"

namespace mr {
namespace cpu {
namespace {

/// The plain form walks the items once per factor; this one walks them once, adding in the same order.
template <class Real>
struct FactorScoresVjpByRow : FactorScoresVjp<Real> {
  template <class Group>
  void operator()(const Group&, int64_t list) const {
    const auto& w = *this;
    const Real* const __restrict p = w.users.data + w.user_of[list] * w.width;
    const int64_t at = w.lists.begin(list), n = w.lists.size(list);
    Real* const __restrict sums = w.by_user.data ? w.by_user.data + list * w.width : nullptr;
    if (sums) {
      for (int64_t c = 0; c < w.width; ++c) sums[c] = 0;
    }
    for (int64_t r = at; r < at + n; ++r) {
      const Real g = w.upstream[r];
      const Real* const __restrict q = w.items.data + w.item_of[r] * w.width;
      if (sums) {
        for (int64_t c = 0; c < w.width; ++c) sums[c] += g * q[c];
      }
      if (w.by_item.data) {
        Real* const __restrict out = w.by_item.data + r * w.width;
        for (int64_t c = 0; c < w.width; ++c) out[c] = g * p[c];
      }
    }
  }
};

template <class Real>
void factor_scores_vjp(int64_t count, const FactorScoresVjp<Real>& work) {
  Backend::lists(count, FactorScoresVjpByRow<Real>{work});
}

template <class Real>
void with_fast_forms(TrainingKernels<Real>& table) {
  table.factor_scores_vjp = &factor_scores_vjp<Real>;
}

}  // namespace
}  // namespace cpu

MR_CPU_TABLE(TrainingKernels, float, cpu::with_fast_forms)
MR_CPU_TABLE(TrainingKernels, double, cpu::with_fast_forms)

}  // namespace mr
