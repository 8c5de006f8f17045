// Losses of each relevant row (grade of at least 1) among the other rows of its list, which are sampled negatives or
// the rest of the catalogue. Each kernel replaces a chain of tensor operations over all rows. The kernels of the log
// sum and of the pairwise softmax loss (PSL) round after each step to the scores' type, as the chain would, so their
// results have the same bits as the chain's.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/core/angles.h"
#include "kernels/core/functions.h"
#include "kernels/core/group.h"
#include "kernels/core/logarithms.h"
#include "kernels/core/view.h"
#include "kernels/tensor/elementwise.h"

namespace mr {

/// Which rows of a list a sum includes: all, the relevant rows, or the other rows.
enum class Part : int8_t { all, relevant, others };

MR_HD inline bool is_in(Part part, float grade) {
  return part == Part::all || (grade >= 1) == (part == Part::relevant);
}

/// The scores of a list's rows, divided by a temperature.
template <class Real>
struct PartScores {
  Span<const Real> scores;
  Span<const float> relevance;
  Ragged lists;
  Part part;
  Real tau;

  MR_HD bool has(int64_t row) const { return is_in(part, relevance[row]); }
  /// Returns f - top, where f = score / tau for the given row. If f equals top, the result is 0 even if both are
  /// infinite, so rows with equal infinite scores get equal weights.
  MR_HD Real below(int64_t row, Real top) const {
    const Real f = scores[row] / tau;
    return f == top ? Real(0) : f - top;
  }
};

/// Computes per list value = log of the sum of e^(f / tau) over the rows of a part (all, relevant or other rows).
/// `powers` has e^(f / tau - the largest f / tau) of these rows and 0 for other rows, `total` the sum of them.
template <class Real>
struct PartLogSum : PartScores<Real> {
  Span<Real> value, powers, total;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = this->lists.begin(list), n = this->lists.size(list);
    const Real most = group.max(n, Real(-HUGE_VAL), [&](int64_t i) {
      return this->has(at + i) ? this->scores[at + i] / this->tau : Real(-HUGE_VAL);
    });
    group.each(
        n, [&](int64_t i) { powers[at + i] = this->has(at + i) ? portable::exp(this->below(at + i, most)) : Real(0); });
    const double sum = group.sum(n, [&](int64_t i) { return powers[at + i]; });
    group.each(1, [&](int64_t) { put(list, most, static_cast<Real>(sum)); });
  }
  MR_HD void put(int64_t list, Real most, Real sum) const {
    value[list] = portable::log(sum) + most;
    total[list] = sum;
  }
};

template <class Real>
struct PartLogSumVjp : PartScores<Real> {
  Span<const Real> powers, total, upstream;
  Span<Real> out;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = this->lists.begin(list);
    const Real of_row = upstream[list] * (1 / total[list]), inverse = 1 / this->tau;
    group.each(this->lists.size(list),
               [&](int64_t i) { out[at + i] = (this->has(at + i) ? of_row * powers[at + i] : Real(0)) * inverse; });
  }
};

/// Surrogates: functions of a score difference d that the pairwise softmax loss (PSL) has in place of the exponential.
/// They are tanh(d) + 1, max(d + 1, 0), and atan(d) + 1 where that is above 0.
enum class Surrogate : int8_t { tanh, relu, atan };

/// Computes log(s(d)) / tau_star, where d = (f_worse - f_better) / tau for the scores f of a pair, and s is a
/// surrogate: the function that the loss PSL has in place of the exponential.
template <class Real>
struct PslForm {
  Surrogate surrogate;
  Real tau, tau_star;

  MR_HD Real difference(Real better, Real worse) const { return (better - worse) / -tau; }
  MR_HD Real value(Real d) const {
    switch (surrogate) {
      case Surrogate::tanh:
        return (Real(log2) - softplus(d * -2)) / tau_star;
      case Surrogate::relu:
        return (d > -1 ? portable::log(d + 1) : Real(-HUGE_VAL)) / tau_star;
      default: {
        const Real y = portable::atan(d) + 1;
        return (y > least ? portable::log(y) : Real(-HUGE_VAL)) / tau_star;
      }
    }
  }
  /// Returns the derivative of log(s(d)) / tau_star (see PslForm) by the pair's score difference f_better - f_worse,
  /// times `upstream`.
  MR_HD Real product(Real d, Real upstream) const {
    const Real g = upstream * (1 / tau_star);
    Real by_d = 0;
    switch (surrogate) {
      case Surrogate::tanh:
        by_d = g * -1 * sigmoid(d * -2) * -2;
        break;
      case Surrogate::relu:
        by_d = d > -1 ? g * (1 / (d + 1)) : Real(0);
        break;
      default: {
        const Real y = portable::atan(d) + 1;
        by_d = y > least ? g * (1 / y) / (1 + d * d) : Real(0);
      }
    }
    return by_d * (1 / -tau);
  }

  static constexpr double log2 = 0.69314718055994530942, least = 1e-6;
};

/// The pairwise softmax loss (PSL) of every list: the mean over its relevant rows i of log sum_(other j) e^v_ij, times
/// the row's weight unless `weights` is null. v_ij = log(s(d_ij)) / tau_star is computed by PslForm. If `whole`, the
/// loss is instead the logarithm of the sum over all pairs (i, j). For each of these sums, `tops` stores the largest
/// exponent, and `totals` the sum divided by e^top. They are stored at the relevant row i, or at the list's first row
/// if `whole`. A sum in which all terms are 0 gives -infinity.
template <class Real>
struct PslScores {
  Span<const Real> scores;
  Span<const float> relevance;
  Ragged lists;
  PslForm<Real> form;
  bool whole;
  Span<const Real> weights;

  MR_HD bool relevant(int64_t row) const { return relevance[row] >= 1; }
  MR_HD Real weighed(Real x, int64_t row) const { return weights.data != nullptr ? x * weights[row] : x; }
  MR_HD Real difference(int64_t better, int64_t worse) const { return form.difference(scores[better], scores[worse]); }
};

template <class Real>
struct PslSums : PslScores<Real> {
  Span<Real> tops, totals, value;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const auto& w = *this;
    const int64_t at = w.lists.begin(list), n = w.lists.size(list);
    Real top = -HUGE_VAL;
    if (w.whole) {
      for (int64_t i = at; i < at + n; ++i) {
        const Real most = w.relevant(i) ? largest(group, i, at, n) : top;
        top = most > top ? most : top;
      }
    }
    double sum = 0;
    int64_t count = 0;
    for (int64_t i = at; i < at + n; ++i) {
      if (!w.relevant(i)) continue;
      ++count;
      if (!w.whole) top = largest(group, i, at, n);
      const double total = group.sum(n, [&](int64_t j) {
        return w.relevant(at + j) ? Real(0) : portable::exp(w.form.value(w.difference(i, at + j)) - top);
      });
      if (w.whole) {
        sum += total;
      } else {
        sum += static_cast<double>(w.weighed(log_of(static_cast<Real>(total), top), i));
        group.each(1, [&](int64_t) { put(i, static_cast<Real>(total), top); });
      }
    }
    group.each(1, [&](int64_t) {
      if (w.whole && n > 0) put(at, static_cast<Real>(sum), top);
      value[list] = w.whole ? log_of(static_cast<Real>(sum), top) : static_cast<Real>(sum / static_cast<double>(count));
    });
  }
  MR_HD void put(int64_t row, Real total, Real top) const {
    totals[row] = total;
    tops[row] = top;
  }
  static MR_HD Real log_of(Real total, Real top) {
    return top == Real(-HUGE_VAL) ? Real(-HUGE_VAL) : portable::log(total) + top;
  }

 private:
  template <class Group>
  MR_HD Real largest(const Group& group, int64_t i, int64_t at, int64_t n) const {
    return group.max(n, Real(-HUGE_VAL), [&](int64_t j) {
      return this->relevant(at + j) ? Real(-HUGE_VAL) : this->form.value(this->difference(i, at + j));
    });
  }
};

template <class Real>
struct PslSumsVjp : PslScores<Real> {
  Span<const Real> tops, totals, upstream;
  Span<Real> out;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const auto& w = *this;
    const int64_t at = w.lists.begin(list), n = w.lists.size(list);
    const auto positives =
        static_cast<Real>(group.sum(n, [&](int64_t i) { return static_cast<double>(w.relevant(at + i)); }));
    for (int64_t i = at; i < at + n; ++i) {
      if (!w.relevant(i)) continue;
      const double sum = group.sum(
          n, [&](int64_t j) { return w.relevant(at + j) ? Real(0) : of_pair(list, positives, at, i, at + j); });
      group.each(1, [&](int64_t) { out[i] = static_cast<Real>(sum); });
    }
    group.each(n, [&](int64_t j) {
      if (w.relevant(at + j)) return;
      double sum = 0;
      for (int64_t i = at; i < at + n; ++i) {
        if (w.relevant(i)) sum -= static_cast<double>(of_pair(list, positives, at, i, at + j));
      }
      out[at + j] = static_cast<Real>(sum);
    });
  }
  /// Returns the derivative of the loss PSL by one term of a relevant row's sum of exponentials over pairs, relative
  /// to e^top. `i` is the relevant row, and `positives` is the number of relevant rows in the list.
  MR_HD Real weight(int64_t list, Real positives, int64_t at, int64_t i) const {
    return this->whole ? upstream[list] * (1 / totals[at])
                       : this->weighed(upstream[list] / positives, i) * (1 / totals[i]);
  }

 private:
  MR_HD Real of_pair(int64_t list, Real positives, int64_t at, int64_t i, int64_t j) const {
    const Real d = this->difference(i, j), top = tops[this->whole ? at : i];
    return this->form.product(d, weight(list, positives, at, i) * portable::exp(this->form.value(d) - top));
  }
};

/// Finds the k-th largest score of each list, or the smallest score of a shorter list; -infinity for an empty list.
/// Scores are not NaN. The search goes over the bits of the result, because the order of numbers is that of their bits.
template <class Real>
struct KthLargest {
  Span<const Real> scores;
  Ragged lists;
  int64_t k;
  Span<Real> value;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = lists.begin(list), n = lists.size(list), place = k < n ? k : n;
    Bits found = 0;
    for (int bit = 8 * sizeof(Bits) - 1; bit >= 0; --bit) {
      const Bits next = found | Bits{1} << bit;
      const double reached =
          group.sum(n, [&](int64_t i) { return static_cast<double>(ascending(scores[at + i]) >= next); });
      if (reached >= static_cast<double>(place)) found = next;
    }
    group.each(1, [&](int64_t) { value[list] = n > 0 ? number(found) : Real(-HUGE_VAL); });
  }

 private:
  using Bits = std::conditional_t<sizeof(Real) == 4, uint32_t, uint64_t>;
  static constexpr Bits sign = Bits{1} << (8 * sizeof(Bits) - 1);
  /// Returns bits that are larger for larger numbers, and equal for both zeros.
  static MR_HD Bits ascending(Real x) {
    x += 0;
    Bits bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits & sign ? ~bits : bits | sign;
  }
  static MR_HD Real number(Bits bits) {
    bits = bits & sign ? bits & ~sign : ~bits;
    Real x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
  }
};

/// Computes per list the terms of the loss LLPAUC that depend on scores: the mean over other rows of r(w), times
/// `by_others`, less the mean over relevant rows of r(u), times `by_relevant`. r(x) = log(1 + e^(kappa x)) / kappa, s =
/// sigma(f), u = 2 (1 + gamma) s - (s - a)^2 - p, w = 2 (1 + gamma) s + (s - b)^2 - m. `parameters` has a, b, p, m and
/// gamma.
template <class Real>
struct LlpaucLoss {
  static constexpr int64_t count = 5;
  Span<const Real> parameters, scores;
  Span<const float> relevance;
  Ragged lists;
  double kappa, by_relevant, by_others;
  Span<Real> value, derivative, by_parameter;

  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = lists.begin(list), n = lists.size(list);
    const double positives = group.sum(n, [&](int64_t i) { return static_cast<double>(relevance[at + i] >= 1); });
    const Shape of = shape(positives, static_cast<double>(n));
    const double total = group.sum(n, [&](int64_t i) {
      const bool relevant = relevance[at + i] >= 1;
      return of.weight(relevant) * softplus(kappa * of.inside(relevant, row_sigmoid(at + i))) / kappa;
    });
    group.each(1, [&](int64_t) { value[list] = static_cast<Real>(total); });
    if (derivative.data == nullptr) return;
    group.each(n, [&](int64_t i) {
      const bool relevant = relevance[at + i] >= 1;
      const double s = row_sigmoid(at + i), slope = of.weight(relevant) * sigmoid(kappa * of.inside(relevant, s));
      derivative[at + i] = static_cast<Real>(slope * of.by_sigmoid(relevant, s) * s * (1 - s));
    });
    for (int64_t k = 0; k < count; ++k) {
      const double sum = group.sum(n, [&](int64_t i) {
        const bool relevant = relevance[at + i] >= 1;
        const double s = row_sigmoid(at + i);
        return of.weight(relevant) * sigmoid(kappa * of.inside(relevant, s)) * of.by(k, relevant, s);
      });
      group.each(1, [&](int64_t) { by_parameter[list * count + k] = static_cast<Real>(sum); });
    }
  }

  /// Parameters of the loss LLPAUC, and the factors of r(x) in a list's value: `of_relevant` for a relevant row,
  /// `of_others` for another row.
  struct Shape {
    double a, b, p, m, gamma, of_relevant, of_others;
    MR_HD double weight(bool relevant) const { return relevant ? of_relevant : of_others; }
    MR_HD double inside(bool relevant, double s) const {
      const double slope = 2 * (1 + gamma) * s;
      return relevant ? slope - (s - a) * (s - a) - p : slope + (s - b) * (s - b) - m;
    }
    MR_HD double by_sigmoid(bool relevant, double s) const {
      return 2 * (1 + gamma) + (relevant ? -2 * (s - a) : 2 * (s - b));
    }
    /// Returns the derivative of `inside`, the argument of r(x) in the loss LLPAUC (u for a relevant row, else w), by
    /// parameter k of (a, b, p, m, gamma).
    MR_HD double by(int64_t k, bool relevant, double s) const {
      if (k == 4) return 2 * s;
      if (relevant) return k == 0 ? 2 * (s - a) : k == 2 ? -1 : 0;
      return k == 1 ? -2 * (s - b) : k == 3 ? -1 : 0;
    }
  };
  MR_HD Shape shape(double positives, double rows) const {
    const double negatives = rows - positives;
    return {parameters[0],
            parameters[1],
            parameters[2],
            parameters[3],
            parameters[4],
            positives > 0 ? -by_relevant / positives : 0,
            negatives > 0 ? by_others / negatives : 0};
  }

 private:
  MR_HD double row_sigmoid(int64_t row) const { return sigmoid(static_cast<double>(scores[row])); }
};

}  // namespace mr
