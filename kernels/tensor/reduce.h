// Sums, maxima and softmax, along dimensions and per list. Sums run in double.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/functions.h"
#include "kernels/core/group.h"
#include "kernels/core/logarithms.h"
#include "kernels/core/view.h"

namespace mr {

/// Entry j of the run that makes result o: where it lies in the input.
struct Runs {
  Broadcast kept, reduced;
  int64_t length = 0;
  MR_HD int64_t operator()(int64_t o, int64_t j) const { return kept(o) + reduced(j); }
};

template <class Real>
struct ReduceSum {
  Span<const Real> in;
  Span<Real> out;
  Runs runs;
  double scale;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t o) const {
    const double total = group.sum(runs.length, [&](int64_t j) { return in[runs(o, j)]; });
    group.each(1, [&](int64_t) { out[o] = static_cast<Real>(total * scale); });
  }
};

/// Largest entry and the 1-based position of the first that equals it; NaN wins, so that it is not lost. `sign` -1: the
/// smallest entry.
template <class Real>
struct ReduceMax {
  Span<const Real> in;
  Span<Real> out;
  Span<int64_t> at;
  Runs runs;
  Real sign = 1;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t o) const {
    group.each(1, [&](int64_t) {
      int64_t best = 0;
      for (int64_t j = 1; j < runs.length; ++j) {
        const Real x = sign * in[runs(o, j)], top = sign * in[runs(o, best)];
        if (x > top || (x != x && top == top)) best = j;
      }
      out[o] = in[runs(o, best)];
      at[o] = best + 1;
    });
  }
};

/// The derivative of a maximum goes to the entry that it was taken from.
template <class Real>
struct ReduceMaxVjp {
  Span<const Real> upstream;
  Span<const int64_t> at;
  Span<Real> out;
  Runs runs;
  MR_HD void operator()(int64_t o) const { out[runs(o, at[o] - 1)] = upstream[o]; }
};

template <class Real>
struct Softmax {
  Span<const Real> in;
  Span<Real> out;
  Runs runs;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t o) const {
    const Real top = group.max(runs.length, Real(-INFINITY), [&](int64_t j) { return in[runs(o, j)]; });
    const double total =
        group.sum(runs.length, [&](int64_t j) { return portable::exp(static_cast<double>(in[runs(o, j)] - top)); });
    group.each(runs.length, [&](int64_t j) {
      const int64_t i = runs(o, j);
      out[i] = static_cast<Real>(portable::exp(static_cast<double>(in[i] - top)) / total);
    });
  }
};

template <class Real>
struct SoftmaxVjp {
  Span<const Real> y, upstream;
  Span<Real> out;
  Runs runs;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t o) const {
    const double inner =
        group.sum(runs.length, [&](int64_t j) { return static_cast<double>(y[runs(o, j)]) * upstream[runs(o, j)]; });
    group.each(runs.length, [&](int64_t j) {
      const int64_t i = runs(o, j);
      out[i] = static_cast<Real>(y[i] * (upstream[i] - inner));
    });
  }
};

/// log of the sum of e^x; -inf for no entries or none above -inf.
template <class Real>
struct LogSum {
  Span<const Real> in;
  Span<Real> out;
  Runs runs;

  struct Parts {
    double top, log_total;
  };
  /// The largest entry where it is finite, else 0, and log of the sum of e^(x - top).
  template <class Group>
  static MR_HD Parts parts(const Group& group, int64_t o, Span<const Real> in, const Runs& runs) {
    const Real largest = group.max(runs.length, Real(-INFINITY), [&](int64_t j) { return in[runs(o, j)]; });
    const double top = std::fabs(largest) < Real(INFINITY) ? static_cast<double>(largest) : 0.0;
    const double total =
        group.sum(runs.length, [&](int64_t j) { return portable::exp(static_cast<double>(in[runs(o, j)]) - top); });
    return {top, portable::log(total)};
  }

  template <class Group>
  MR_HD void operator()(const Group& group, int64_t o) const {
    const Parts of = parts(group, o, in, runs);
    group.each(1, [&](int64_t) { out[o] = static_cast<Real>(of.top + of.log_total); });
  }
};

/// The derivative by an entry is its softmax; where all are -inf it is 0.
template <class Real>
struct LogSumVjp {
  Span<const Real> in, y, upstream;
  Span<Real> out;
  Runs runs;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t o) const {
    group.each(runs.length, [&](int64_t j) {
      const int64_t i = runs(o, j);
      const double share =
          y[o] == Real(-INFINITY) ? 0.0 : portable::exp(static_cast<double>(in[i]) - static_cast<double>(y[o]));
      out[i] = static_cast<Real>(upstream[o] * share);
    });
  }
};

template <class Real>
struct LogSoftmax {
  Span<const Real> in;
  Span<Real> out;
  Runs runs;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t o) const {
    const auto of = LogSum<Real>::parts(group, o, in, runs);
    group.each(runs.length, [&](int64_t j) {
      const int64_t i = runs(o, j);
      out[i] = static_cast<Real>(static_cast<double>(in[i]) - of.top - of.log_total);
    });
  }
};

template <class Real>
struct LogSoftmaxVjp {
  Span<const Real> y, upstream;
  Span<Real> out;
  Runs runs;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t o) const {
    const double total = group.sum(runs.length, [&](int64_t j) { return upstream[runs(o, j)]; });
    group.each(runs.length, [&](int64_t j) {
      const int64_t i = runs(o, j);
      out[i] = static_cast<Real>(upstream[i] - portable::exp(static_cast<double>(y[i])) * total);
    });
  }
};

/// Row d of `out` is the sum of the rows order[starts[d]] .. order[starts[d + 1] - 1] of `in`, in that order; i counts
/// entries of `out`.
template <class Real>
struct SumRuns {
  Span<const Real> in;
  Span<const int64_t> order, starts;
  Span<Real> out;
  int64_t width;
  MR_HD void operator()(int64_t i) const {
    const int64_t row = i / width, column = i % width;
    double total = 0;
    for (int64_t k = starts[row]; k < starts[row + 1]; ++k) total += in[order[k] * width + column];
    out[i] = static_cast<Real>(total);
  }
};

/// Inner product of row i of a and row i of b.
template <class Real>
struct RowDot {
  Span<const Real> a, b;
  Span<Real> out;
  int64_t width;
  MR_HD void operator()(int64_t i) const {
    Real total = 0;
    for (int64_t c = 0; c < width; ++c) total += a[i * width + c] * b[i * width + c];
    out[i] = total;
  }
};

}  // namespace mr
