// Softmax and log-sum-exp along dimensions, and their derivatives. Sums use double accumulators.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/functions.h"
#include "kernels/core/logarithms.h"
#include "kernels/tensor/reduce.h"

namespace mr {

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

/// Computes log of the sum of e^x. It is -inf for no entries, or if all are -inf.
template <class Real>
struct LogSum {
  Span<const Real> in;
  Span<Real> out;
  Runs runs;

  struct Parts {
    double top, log_total;
  };
  /// Returns `top`, the largest entry x (or 0 if that is infinite or NaN), and `log_total`, the log of the sum of e^(x
  /// - top). Subtracting `top` avoids overflow.
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

/// Computes the derivative of log-sum-exp by each entry, which is its softmax; 0 if all entries are -inf.
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

}  // namespace mr
