// Listwise and pointwise losses by the CPU's vector loops over the rows of a list (row_sums.h).
#pragma once

#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include "kernels/core/scratch.h"
#include "kernels/losses/row_sums.h"
#include "kernels/losses/rows.h"

namespace mr::cpu {

/// Arrays of one thread for a list, with `row_padding` or more entries.
struct RowScratch {
  std::vector<double> x, a, b;
  auto in_use() { return Kept(x, a, b); }
  /// Resizes all arrays for n rows and pads x with - infinity. Returns their length.
  int64_t resize(int64_t n) {
    const int64_t size = (n + row_padding - 1) / row_padding * row_padding;
    x.assign(static_cast<size_t>(size), -std::numeric_limits<double>::infinity());
    a.assign(static_cast<size_t>(size), 0.0);
    b.assign(static_cast<size_t>(size), 0.0);
    return size;
  }
};
inline RowScratch& row_scratch() {
  static constinit thread_local OfThread<RowScratch> scratch;
  return scratch.get();
}

template <class Real, class Targets>
struct VectorCrossEntropy : TargetCrossEntropy<Real, Targets> {
  void operator()(const SerialGroup&, int64_t list) const {
    RowScratch& my = row_scratch();
    const auto kept = my.in_use();
    const auto& w = *this;
    const int64_t at = w.lists.begin(list), n = w.lists.size(list), size = my.resize(n);
    const double mass = targets(my, at, n, size);
    std::copy_n(w.scores.data + at, n, my.x.begin());
    const RowLoops& loops = row_loops();
    double top = loops.largest(my.x.data(), size);
    // If all scores are -infinity, they count as equal finite scores; only the padding stays at -infinity.
    if (top == -HUGE_VAL) {
      std::fill_n(my.x.begin(), n, 0.0);
      top = 0;
    }
    const double total = loops.exponentials(my.x.data(), top, size, my.a.data());
    if (w.derivative.data != nullptr) {
      loops.cross_entropy_slopes(my.a.data(), my.b.data(), mass, total, n, my.a.data());
      std::transform(my.a.begin(), my.a.begin() + n, w.derivative.data + at,
                     [](double x) { return static_cast<Real>(x); });
    }
    w.value[list] =
        static_cast<Real>(loops.cross_entropy(my.x.data(), my.b.data(), top, portable::log(total), n, my.a.data()));
  }

 private:
  /// Computes the targets of the list's rows (for example their grades) into the array b. Returns their sum.
  double targets(RowScratch& my, int64_t at, int64_t n, int64_t size) const {
    const float* const y = this->relevance.data + at;
    std::copy_n(y, n, my.x.begin());
    if constexpr (std::is_same_v<Targets, Grades>) {
      std::copy_n(y, n, my.b.begin());
      return row_loops().sum(my.b.data(), size);
    }
    const double top = row_loops().largest(my.x.data(), size);
    row_loops().divide(my.b.data(), row_loops().exponentials(my.x.data(), top, size, my.b.data()), n);
    return 1;
  }
};

template <class Real>
struct VectorBinaryCrossEntropy : BinaryCrossEntropyLoss<Real> {
  void operator()(const SerialGroup&, int64_t list) const {
    RowScratch& my = row_scratch();
    const auto kept = my.in_use();
    const auto& w = *this;
    const int64_t at = w.lists.begin(list), n = w.lists.size(list), size = my.resize(n);
    const double threshold = w.form.threshold, rows = static_cast<double>(std::max<int64_t>(n, 1));
    for (int64_t i = 0; i < n; ++i) my.x[i] = w.relevance[at + i] >= threshold ? -w.scores[at + i] : w.scores[at + i];
    const double total = row_loops().logistic(my.x.data(), size, my.a.data());
    for (int64_t i = 0; w.derivative.data != nullptr && i < n; ++i) {
      const double slope = w.relevance[at + i] >= threshold ? -my.a[i] : my.a[i];
      w.derivative[at + i] = static_cast<Real>(slope / rows);
    }
    w.value[list] = static_cast<Real>(total / rows);
  }
};

template <class Real>
struct VectorOrdinal : OrdinalLoss<Real> {
  void operator()(const SerialGroup&, int64_t list) const {
    RowScratch& my = row_scratch();
    const auto kept = my.in_use();
    const auto& w = *this;
    const int64_t at = w.lists.begin(list), n = w.lists.size(list), size = my.resize(n);
    const double rows = static_cast<double>(std::max<int64_t>(n, 1));
    double total = 0;
    for (int64_t k = 0; k < w.thresholds.size; ++k) {
      const double threshold = w.thresholds[k], grade = static_cast<double>(k + 1);
      for (int64_t i = 0; i < n; ++i) {
        const double f = static_cast<double>(w.scores[at + i]) - threshold;
        my.x[i] = w.relevance[at + i] >= grade ? -f : f;
      }
      total += row_loops().logistic(my.x.data(), size, my.a.data());
      double level = 0;
      for (int64_t i = 0; i < n; ++i) {
        const double slope = w.relevance[at + i] >= grade ? -my.a[i] : my.a[i];
        my.b[i] += slope;
        level -= slope;
      }
      if (w.by_threshold.data != nullptr)
        w.by_threshold[list * w.thresholds.size + k] = static_cast<Real>(level / rows);
    }
    for (int64_t i = 0; w.derivative.data != nullptr && i < n; ++i)
      w.derivative[at + i] = static_cast<Real>(my.b[i] / rows);
    w.value[list] = static_cast<Real>(total / rows);
  }
};

}  // namespace mr::cpu
