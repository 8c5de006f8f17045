// Top-N-Rank by the CPU's vector loop (row_sums.h).
#pragma once

#include <algorithm>

#include "kernels/core/threads.h"
#include "kernels/losses/top_ranks.h"
#include "kernels/losses/vector_losses.h"

namespace mr::cpu {

/// Computes Top-N-Rank with sigma in vector registers. Its results have the same bits as those of the plain form.
template <class Real>
struct VectorTopRanks : TopSigmoidLoss<Real> {
  void operator()(const SerialGroup& group, int64_t list) const {
    RowScratch& my = row_scratch();
    const auto kept = my.in_use();
    const auto& w = *this;
    const int64_t at = w.lists.begin(list), n = w.lists.size(list);
    my.resize(n);
    std::copy_n(w.scores.data + at, n, my.x.begin());
    double* const slopes = w.slopes.data + at;
    std::fill_n(slopes, n, 0.0);
    double total = 0;
    const bool matters = grades_differ(group, w.relevance.data + at, n);
    for (int64_t i = 0; matters && i < n; ++i) {
      const double gain = gain_of(w.relevance[at + i]);
      check_interrupt();
      if (gain > 0 && w.places[at + i].above < w.first) total -= gain * of_row(group, my, n, i, gain, slopes);
    }
    w.value[list] = static_cast<Real>(total);
    for (int64_t i = 0; w.derivative.data != nullptr && i < n; ++i) w.derivative[at + i] = static_cast<Real>(slopes[i]);
  }

 private:
  double of_row(const SerialGroup& group, RowScratch& my, int64_t n, int64_t i, double gain, double* slopes) const {
    row_loops().above(my.x.data(), my.x[i], n, my.a.data(), my.b.data());
    my.a[i] = my.b[i] = 0;
    const SlopedDiscount discount = sloped_discount(1 + group.sum(n, [&](int64_t j) { return my.a[j]; }));
    const double weight = -gain * discount.slope;
    for (int64_t j = 0; j < n; ++j) my.b[j] *= weight;
    for (int64_t j = 0; j < n; ++j) slopes[j] += my.b[j];
    slopes[i] -= group.sum(n, [&](int64_t j) { return my.b[j]; });
    return discount.value;
  }
};

}  // namespace mr::cpu
