// The losses of negatives.h on the CPU. The rows of a sum are copied to consecutive memory, and functions such as exp
// are computed by SIMD vectors (kernels/tensor/functions_cpu.h). Sums go from the first row to the last, so results
// have the same bits as those of negatives.h.
#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "kernels/core/launch_cpu.h"
#include "kernels/core/scratch.h"
#include "kernels/losses/negatives/rows.h"
#include "kernels/losses/row_sums.h"
#include "kernels/tensor/functions_cpu.h"

namespace mr {
namespace cpu {
namespace {

/// Arrays of one thread, with an entry per row of a list.
template <class Real>
struct Scratch {
  std::vector<Real> scores, x, y, z;
  std::vector<double> sums;
  std::vector<int64_t> rows;
  auto in_use() { return Kept(scores, x, y, z, sums, rows); }
  void resize(int64_t n) {
    const auto size = static_cast<size_t>(n);
    for (std::vector<Real>* each : {&scores, &x, &y, &z}) each->resize(size);
    sums.assign(size, 0.0);
    rows.resize(size);
  }
};

template <class Real>
Scratch<Real>& scratch() {
  static constinit thread_local OfThread<Scratch<Real>> the_scratch;
  return the_scratch.get();
}

template <class Real>
const FunctionLoops<Real>& functions() {
  return chosen_loops<FunctionLoops<Real>>();
}

template <class Real>
double sum_of(const Real* x, int64_t n) {
  double total = 0;
  for (int64_t i = 0; i < n; ++i) total += static_cast<double>(x[i]);
  return total;
}

/// Returns the largest entry of x, by several chains of comparisons at once.
template <class Real>
Real largest_of(const Real* x, int64_t n) {
  constexpr int64_t chains = 16;
  Real most[chains];
  std::fill_n(most, chains, Real(-HUGE_VAL));
  int64_t i = 0;
  for (; i + chains <= n; i += chains) {
    for (int64_t k = 0; k < chains; ++k) most[k] = x[i + k] > most[k] ? x[i + k] : most[k];
  }
  for (; i < n; ++i) most[0] = x[i] > most[0] ? x[i] : most[0];
  for (int64_t k = 1; k < chains; ++k) most[0] = most[k] > most[0] ? most[k] : most[0];
  return most[0];
}

/// Computes PartLogSum in SIMD vectors. Rows that the sum does not include get the exponent -infinity, so their power
/// e^(-infinity) is 0.
template <class Real>
struct VectorPartLogSum : PartLogSum<Real> {
  void operator()(const SerialGroup& group, int64_t list) const {
    const auto& w = *this;
    Scratch<Real>& my = scratch<Real>();
    const auto kept = my.in_use();
    const int64_t at = w.lists.begin(list), n = w.lists.size(list);
    my.x.resize(static_cast<size_t>(n));
    Real* const x = my.x.data();
    const Real *const scores = w.scores.data + at, tau = w.tau;
    const float* const grades = w.relevance.data + at;
    const bool all = w.part == Part::all, relevant = w.part == Part::relevant;
    for (int64_t i = 0; i < n; ++i) {
      const Real f = scores[i] / tau;
      x[i] = all | ((grades[i] >= 1) == relevant) ? f : Real(-HUGE_VAL);
    }
    const Real top = largest_of(x, n);
    if (std::abs(top) == Real(HUGE_VAL)) {
      PartLogSum<Real>::operator()(group, list);
      return;
    }
    for (int64_t i = 0; i < n; ++i) x[i] -= top;
    functions<Real>().exp.values(x, w.powers.data + at, n);
    w.put(list, top, static_cast<Real>(sum_of(w.powers.data + at, n)));
  }
};

/// Computes the loss PSL for the pairs of one relevant row with the other rows of its list.
template <class Real>
class PairsOfRow {
 public:
  PairsOfRow(const PslScores<Real>& work, int64_t list, Scratch<Real>& scratch) : w(work), my(scratch) {
    const int64_t at = w.lists.begin(list), end = at + w.lists.size(list);
    my.resize(end - at + 1);
    for (int64_t row = at; row < end; ++row) {
      my.scores[count] = w.scores[row];
      my.rows[count] = row;
      count += static_cast<int64_t>(!w.relevant(row));
    }
  }

  int64_t count = 0;  // other rows

  /// Computes log(s(d)) / tau_star for all pairs of the relevant row into `x`, where d is the scaled score difference
  /// of a pair and s the surrogate that replaces the exponential in PSL. Returns the largest of these values.
  Real values(int64_t row) {
    differences(row);
    if (w.form.surrogate == Surrogate::tanh) {
      functions<Real>().softplus.values(my.z.data(), my.y.data(), count);
      const Real log2 = w.form.log2, tau_star = w.form.tau_star;
      for (int64_t j = 0; j < count; ++j) my.x[j] = (log2 - my.y[j]) / tau_star;
    } else {
      for (int64_t j = 0; j < count; ++j) my.x[j] = w.form.value(my.z[j]);
    }
    return largest_of(my.x.data(), count);
  }

  /// Computes e^(x - top) of all pairs into `y`.
  void exponentials(Real top) {
    for (int64_t j = 0; j < count; ++j) my.x[j] -= top;
    functions<Real>().exp.values(my.x.data(), my.y.data(), count);
  }

  /// Computes the derivative of each pair's term by the score of its other row. Adds each to the entry of that row in
  /// `sums`, and returns the total of all. On entry, `y` has the pairs' exponentials. `weight` is the derivative of
  /// the loss by such an exponential.
  double add_slopes(Real weight) {
    if (w.form.surrogate == Surrogate::tanh) {
      const Real of_star = 1 / w.form.tau_star, of_tau = 1 / -w.form.tau;
      for (int64_t j = 0; j < count; ++j) my.x[j] = weight * my.y[j] * of_star * -1;
      functions<Real>().softplus.products(my.z.data(), my.x.data(), my.y.data(), count);
      for (int64_t j = 0; j < count; ++j) my.y[j] = my.y[j] * -2 * of_tau;
    } else {
      for (int64_t j = 0; j < count; ++j) my.y[j] = w.form.product(my.z[j], weight * my.y[j]);
    }
    for (int64_t j = 0; j < count; ++j) my.sums[j] -= static_cast<double>(my.y[j]);
    return sum_of(my.y.data(), count);
  }

 private:
  const PslScores<Real>& w;
  Scratch<Real>& my;

  /// Computes the scaled score difference d = (f_other - f_relevant) / tau of each pair into `z`; for the surrogate
  /// tanh, -2 d.
  void differences(int64_t row) {
    const Real better = w.scores[row], tau = -w.form.tau;
    for (int64_t j = 0; j < count; ++j) my.z[j] = (better - my.scores[j]) / tau;
    if (w.form.surrogate != Surrogate::tanh) return;
    for (int64_t j = 0; j < count; ++j) my.z[j] *= -2;
  }
};

template <class Real, class F>
void each_relevant(const PslScores<Real>& w, int64_t list, F f) {
  const int64_t at = w.lists.begin(list), end = at + w.lists.size(list);
  for (int64_t row = at; row < end; ++row) {
    if (!w.relevant(row)) continue;
    f(row);
    check_interrupt();
  }
}

template <class Real>
struct VectorPslSums : PslSums<Real> {
  void operator()(const SerialGroup&, int64_t list) const {
    const auto& w = *this;
    Scratch<Real>& my = scratch<Real>();
    const auto kept = my.in_use();
    PairsOfRow<Real> pairs(w, list, my);
    Real top = -HUGE_VAL;
    if (w.whole) each_relevant(w, list, [&](int64_t i) { top = std::max(top, pairs.values(i)); });
    double sum = 0;
    int64_t count = 0;
    each_relevant(w, list, [&](int64_t i) {
      ++count;
      const Real most = pairs.values(i);
      if (!w.whole) top = most;
      pairs.exponentials(top);
      if (w.whole) {
        for (int64_t j = 0; j < pairs.count; ++j) sum += static_cast<double>(my.y[j]);
        return;
      }
      const auto total = static_cast<Real>(sum_of(my.y.data(), pairs.count));
      w.put(i, total, top);
      sum += static_cast<double>(w.weighed(w.log_of(total, top), i));
    });
    if (w.whole && w.lists.size(list) > 0) w.put(w.lists.begin(list), static_cast<Real>(sum), top);
    w.value[list] =
        w.whole ? w.log_of(static_cast<Real>(sum), top) : static_cast<Real>(sum / static_cast<double>(count));
  }
};

template <class Real>
struct VectorPslSumsVjp : PslSumsVjp<Real> {
  void operator()(const SerialGroup&, int64_t list) const {
    const auto& w = *this;
    Scratch<Real>& my = scratch<Real>();
    const auto kept = my.in_use();
    const int64_t at = w.lists.begin(list);
    PairsOfRow<Real> pairs(w, list, my);
    const auto positives = static_cast<Real>(w.lists.size(list) - pairs.count);
    each_relevant(w, list, [&](int64_t i) {
      pairs.values(i);
      pairs.exponentials(w.tops[w.whole ? at : i]);
      w.out[i] = static_cast<Real>(pairs.add_slopes(w.weight(list, positives, at, i)));
    });
    for (int64_t j = 0; j < pairs.count; ++j) w.out[my.rows[j]] = static_cast<Real>(my.sums[j]);
  }
};

template <class Real>
struct PartialSort : KthLargest<Real> {
  void operator()(const SerialGroup&, int64_t list) const {
    const auto& w = *this;
    const int64_t at = w.lists.begin(list), n = w.lists.size(list);
    if (n == 0) {
      w.value[list] = -HUGE_VAL;
      return;
    }
    Scratch<Real>& my = scratch<Real>();
    const auto kept = my.in_use();
    my.scores.assign(w.scores.data + at, w.scores.data + at + n);
    const auto place = my.scores.begin() + (std::min(w.k, n) - 1);
    std::nth_element(my.scores.begin(), place, my.scores.end(), std::greater<>());
    w.value[list] = *place;
  }
};

/// Either the relevant or the other rows of a list, for the loss LLPAUC: their scores f, their sigmoids s, and for
/// each row the argument of r(x) (`inside`, see LlpaucLoss).
struct LlpaucRows {
  std::vector<double> f, s, inside, slopes;
  std::vector<int64_t> rows;
  auto in_use() { return Kept(f, s, inside, slopes, rows); }
};

LlpaucRows& llpauc_rows() {
  static constinit thread_local OfThread<LlpaucRows> the_rows;
  return the_rows.get();
}

template <class Real>
struct VectorLlpauc : LlpaucLoss<Real> {
  void operator()(const SerialGroup&, int64_t list) const {
    const auto& w = *this;
    LlpaucRows& my = llpauc_rows();
    const auto kept = my.in_use();
    const int64_t at = w.lists.begin(list), n = w.lists.size(list);
    int64_t positives = 0;
    for (int64_t i = at; i < at + n; ++i) positives += static_cast<int64_t>(w.relevance[i] >= 1);
    const auto of = w.shape(static_cast<double>(positives), static_cast<double>(n));
    std::array<double, LlpaucLoss<Real>::count> by{};
    const double total = part(true, list, of, my, by) + part(false, list, of, my, by);
    w.value[list] = static_cast<Real>(total);
    if (w.derivative.data == nullptr) return;
    for (size_t k = 0; k < by.size(); ++k)
      w.by_parameter[list * LlpaucLoss<Real>::count + static_cast<int64_t>(k)] = static_cast<Real>(by[k]);
  }

 private:
  template <class Shape, class Sums>
  double part(bool relevant, int64_t list, const Shape& of, LlpaucRows& my, Sums& by) const {
    const auto& w = *this;
    const int64_t at = w.lists.begin(list), end = at + w.lists.size(list);
    my.f.resize(static_cast<size_t>(end - at) + 1);
    my.rows.resize(my.f.size());
    int64_t n = 0;
    for (int64_t row = at; row < end; ++row) {
      my.f[n] = w.scores[row];
      my.rows[n] = row;
      n += static_cast<int64_t>((w.relevance[row] >= 1) == relevant);
    }
    const int64_t size = (n + row_padding - 1) / row_padding * row_padding;
    my.s.resize(static_cast<size_t>(size));
    my.slopes.resize(static_cast<size_t>(size));
    my.inside.assign(static_cast<size_t>(size), -HUGE_VAL);
    functions<double>().sigmoid.values(my.f.data(), my.s.data(), n);
    for (int64_t i = 0; i < n; ++i) my.inside[i] = w.kappa * of.inside(relevant, my.s[i]);
    const double total = row_loops().logistic(my.inside.data(), size, my.slopes.data()) / w.kappa;
    if (w.derivative.data != nullptr) {
      for (int64_t i = 0; i < n; ++i) {
        const double s = my.s[i], slope = of.weight(relevant) * my.slopes[i];
        w.derivative[my.rows[i]] = static_cast<Real>(slope * of.by_sigmoid(relevant, s) * s * (1 - s));
        for (int64_t k = 0; k < LlpaucLoss<Real>::count; ++k) by[k] += slope * of.by(k, relevant, s);
      }
    }
    return of.weight(relevant) * total;
  }
};

/// Copies a user's scores over tau to `x`, padded with - infinity. Returns the padded length.
template <class Real>
int64_t divided(const Real* scores, int64_t width, double tau, Scratch<double>& my) {
  const int64_t size = (width + row_padding - 1) / row_padding * row_padding;
  my.x.assign(static_cast<size_t>(size), -HUGE_VAL);
  my.y.resize(static_cast<size_t>(size));
  for (int64_t i = 0; i < width; ++i) my.x[i] = static_cast<double>(scores[i]) / tau;
  return size;
}

template <class Real>
struct VectorAddToLogSums : AddToLogSums<Real> {
  void operator()(const SerialGroup&, int64_t user) const {
    const auto& w = *this;
    Scratch<double>& my = scratch<double>();
    const auto kept = my.in_use();
    const int64_t size = divided(w.scores.data + user * w.width, w.width, w.tau, my);
    const double top = std::max(w.tops[user], row_loops().largest(my.x.data(), size));
    w.put(user, top, row_loops().exponentials(my.x.data(), top, size, my.y.data()));
  }
};

template <class Real>
struct VectorCatalogueWeights : CatalogueWeights<Real> {
  void operator()(const SerialGroup&, int64_t user) const {
    const auto& w = *this;
    Scratch<double>& my = scratch<double>();
    const auto kept = my.in_use();
    Real* const scores = w.scores.data + user * w.width;
    const int64_t size = divided<Real>(scores, w.width, w.tau, my);
    row_loops().exponentials(my.x.data(), w.tops[user], size, my.y.data());
    const double scale = w.scale(user);
    for (int64_t i = 0; i < w.width; ++i) scores[i] = static_cast<Real>(scale * my.y[i]);
  }
};

template <class Form, class Plain>
void by_vectors(int64_t count, const Plain& work) {
  Backend::lists(count, Form{work});
}

/// Hands out lists one by one, because the time of a list grows with its number of pairs.
template <class Form, class Plain>
void one_by_one(int64_t count, const Plain& work) {
  parallel_each(count, 1, [&](int64_t list) { Form{work}(SerialGroup{}, list); });
}

template <class Real>
void with_fast_forms(NegativesKernels<Real>& table) {
  table.part_log_sum = &by_vectors<VectorPartLogSum<Real>>;
  table.psl = &one_by_one<VectorPslSums<Real>>;
  table.psl_vjp = &one_by_one<VectorPslSumsVjp<Real>>;
  table.kth_largest = &by_vectors<PartialSort<Real>>;
  table.llpauc = &by_vectors<VectorLlpauc<Real>>;
  table.add_to_log_sums = &by_vectors<VectorAddToLogSums<Real>>;
  table.catalogue_weights = &by_vectors<VectorCatalogueWeights<Real>>;
}

}  // namespace
}  // namespace cpu

MR_CPU_TABLE(NegativesKernels, float, cpu::with_fast_forms)
MR_CPU_TABLE(NegativesKernels, double, cpu::with_fast_forms)

}  // namespace mr
