// Listwise losses take a list's scores as a distribution over its rows, or over orders of its rows. No computation
// overflows. The result for an infinite score is the limit of the results for growing scores.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/functions.h"
#include "kernels/core/group.h"
#include "kernels/core/logarithms.h"
#include "kernels/core/view.h"
#include "kernels/losses/row_weights.h"

namespace mr {

/// Returns a - b, or 0 if a and b are equal, even if both are infinite.
MR_HD inline double difference(double a, double b) { return a == b ? 0.0 : a - b; }

/// ListNet's target of a row (Cao et al. 2007): the softmax of the list's grades.
struct SoftmaxOfGrades {
  double top, total;
  template <class Group>
  static MR_HD SoftmaxOfGrades of(const Group& group, const float* grades, int64_t n) {
    const double top = group.max(n, -HUGE_VAL, [&](int64_t i) { return static_cast<double>(grades[i]); });
    return {top, group.sum(n, [&](int64_t i) { return portable::exp(static_cast<double>(grades[i]) - top); })};
  }
  MR_HD double operator()(float grade) const { return portable::exp(static_cast<double>(grade) - top) / total; }
};

/// The target of a row in the softmax cross entropy: its grade.
struct Grades {
  template <class Group>
  static MR_HD Grades of(const Group&, const float*, int64_t) {
    return {};
  }
  MR_HD double operator()(float grade) const { return grade; }
};

/// Computes, per list, minus the sum over rows of (target times log softmax of the scores), and its derivative by
/// every score unless `derivative` is null.
template <class Real, class Targets>
struct TargetCrossEntropy {
  Span<const Real> scores;
  Span<const float> relevance;
  Ragged lists;
  Span<Real> value, derivative;

  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = lists.begin(list), n = lists.size(list);
    const Targets targets = Targets::of(group, relevance.data + at, n);
    const double top = group.max(n, -HUGE_VAL, [&](int64_t i) { return static_cast<double>(scores[at + i]); });
    const auto below = [&](int64_t i) { return difference(static_cast<double>(scores[at + i]), top); };
    const double total = group.sum(n, [&](int64_t i) { return portable::exp(below(i)); });
    const double mass = group.sum(n, [&](int64_t i) { return targets(relevance[at + i]); });
    const double log_total = portable::log(total);
    const double sum = group.sum(n, [&](int64_t i) {
      const double target = targets(relevance[at + i]);
      if (derivative.data != nullptr)
        derivative[at + i] = static_cast<Real>(mass * portable::exp(below(i)) / total - target);
      return target > 0 ? target * (log_total - below(i)) : 0.0;
    });
    group.each(1, [&](int64_t) { value[list] = static_cast<Real>(sum); });
  }
};
template <class Real>
using ListNetLoss = TargetCrossEntropy<Real, SoftmaxOfGrades>;
template <class Real>
using SoftmaxCrossEntropyLoss = TargetCrossEntropy<Real, Grades>;

/// ListMLE (Xia et al. 2008): - log of the probability of the order by grade in Plackett and Luce's model. `by_grade`
/// has the rows of every list in that order. With `top_heavy` (p-ListMLE, Lan et al. 2014), position k of n weighs
/// (2^(n-k) - 1) / (2^(n-1) - 1). The term of a position is also multiplied by the weight of its row (`weights`).
/// `tops` and `totals` have an entry per row.
template <class Real>
struct ListMleLoss {
  Span<const Real> scores;
  Chosen by_grade;
  bool top_heavy;
  Span<double> tops, totals;
  Span<Real> value, derivative;
  Span<const double> weights = {};

  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = by_grade.begin(list), n = by_grade.size(list);
    group.each(1, [&](int64_t) {
      value[list] = static_cast<Real>(from_the_last(list, at, n));
      if (derivative.data != nullptr) from_the_first(list, at, n);
    });
  }

 private:
  MR_HD double score(int64_t list, int64_t at, int64_t k) const { return scores[at + by_grade(list, k)]; }

  /// Returns the weight in ListMLE of position k of n, counted from 0: 1, or less for lower positions with
  /// `top_heavy`.
  MR_HD double weight(int64_t k, int64_t n) const {
    if (!top_heavy) return 1;
    if (n == 1) return 0;
    const double last = portable::exp2(static_cast<double>(1 - n));
    return (portable::exp2(static_cast<double>(-k)) - last) / (1 - last);
  }

  /// Returns the ListMLE loss of the list. For every position of the order by grade, stores the largest score f from
  /// that position on, and the sum of e^(f - largest) from there on.
  MR_HD double from_the_last(int64_t list, int64_t at, int64_t n) const {
    double top = -HUGE_VAL, total = 0, value = 0;
    for (int64_t k = n - 1; k >= 0; --k) {
      const double f = score(list, at, k);
      if (f > top) {
        total *= portable::exp(top - f);
        top = f;
      }
      total += portable::exp(difference(f, top));
      tops[at + k] = top;
      totals[at + k] = total;
      const double weighs = weight(k, n) * row_weight(weights, at + by_grade(list, k));
      if (weighs > 0) value += weighs * (portable::log(total) - difference(f, top));
    }
    return value;
  }

  /// Computes the derivative of the ListMLE loss by the score f at position i of the order by grade: e^f times the sum
  /// over k <= i of weight_k / (sum of e^score from position k on), minus weight_i.
  MR_HD void from_the_first(int64_t list, int64_t at, int64_t n) const {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      const double top = tops[at + i], weighs = weight(i, n) * row_weight(weights, at + by_grade(list, i));
      if (i > 0) sum *= portable::exp(difference(top, tops[at + i - 1]));
      sum += weighs / totals[at + i];
      const double slope = portable::exp(difference(score(list, at, i), top)) * sum - weighs;
      derivative[at + by_grade(list, i)] = static_cast<Real>(slope);
    }
  }
};

}  // namespace mr
