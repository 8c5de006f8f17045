// Pairwise losses on the CPU. Every pair is computed once, and the pairs of one better row go through a vector loop
// together.
#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "kernels/core/launch_cpu.h"
#include "kernels/losses/pairs/pair_form_sums.h"
#include "kernels/losses/pairs/worse_rows.h"
#include "kernels/losses/rows.h"
#include "kernels/smooth/pair_pieces.h"

namespace mr {
namespace cpu {
namespace {

template <class Real, class Swaps, class Form>
class LambdaLossByTarget {
  using Row = typename Swaps::Row;
  using Worse = WorseRows<Row>;

 public:
  explicit LambdaLossByTarget(const LambdaLoss<Real, Swaps, Form>& work) : w_(work) {}

  void operator()(const SerialGroup& group, int64_t list) const {
    static constinit thread_local OfThread<Worse> the_worse;
    Worse& worse = the_worse.get();
    const auto kept = worse.in_use();
    w_.swaps.fill(group, list, w_.of, w_.rows, w_.spare);
    gather(list, worse);
    w_.value[list] = static_cast<Real>(add_up(list, worse, w_.swaps.delta(group, list, w_.of, w_.rows)));
  }

 private:
  void gather(int64_t list, Worse& worse) const {
    const int64_t at = w_.of.lists.begin(list), end = at + w_.of.lists.size(list);
    double best = 0;
    for (int64_t k = at; k < end; ++k) best = std::max(best, w_.rows[k].level);
    worse.at.clear();
    for (int64_t k = at; k < end; ++k) {
      if (!only_worse || w_.rows[k].level != best) worse.at.push_back(k);
    }
    if (by_level()) worse.sort(w_.rows);
    worse.fill(w_.rows, w_.scores, w_.curvature.data != nullptr);
    for (const auto& each : {w_.derivative, w_.curvature}) {
      for (int64_t k = at; each.data != nullptr && k < end; ++k) each[k] = 0;
    }
  }

  /// Returns the value of the list. Each derivative of a row has two parts: pairs in which it is better, and pairs in
  /// which it is worse.
  template <class Delta>
  double add_up(int64_t list, Worse& worse, const Delta& delta) const {
    exponentials(list, worse);
    double value = 0;
    for (int64_t slot = 0; slot < w_.of.better.size(list); ++slot) {
      check_interrupt();
      const int64_t i = w_.of.lists.begin(list) + w_.of.better(list, slot);
      const int64_t n = by_level() ? weigh_lower(i, worse, delta) : weigh(i, worse, delta);
      if (n == 0) continue;
      const PairFormSums sums = sum(i, worse, n, slot);
      value += sums.value;
      if (w_.derivative.data != nullptr) w_.derivative[i] = static_cast<Real>(-w_.steepness * sums.slope);
      if (w_.curvature.data != nullptr) w_.curvature[i] = static_cast<Real>(squared(w_.steepness) * sums.curvature);
    }
    add_to_worse(worse, w_.steepness, worse.slopes, w_.derivative);
    add_to_worse(worse, squared(w_.steepness), worse.curvatures, w_.curvature);
    return value;
  }

  /// Computes exponentials of the scores, less the middle score, of worse and of better rows. Those of score
  /// differences follow from them. Computes none if the loss cannot use them or the scores' span is too wide.
  void exponentials(int64_t list, Worse& worse) const {
    worse.exponentials.clear();
    if constexpr (std::is_same_v<Form, LogisticPair>) {
      if (w_.curvature.data == nullptr) return;
      const int64_t at = w_.of.lists.begin(list), better = w_.of.better.size(list);
      const ScoreSpan<Real> span(w_.scores.data + at, w_.of.lists.size(list), w_.steepness);
      if (!span.template fits<double>()) return;
      worse.of_better.resize(static_cast<size_t>(better));
      for (int64_t slot = 0; slot < better; ++slot) {
        worse.of_better[slot] = w_.steepness * (w_.scores[at + w_.of.better(list, slot)] - span.centre);
      }
      pair_form_loops().exponentials(worse.of_better.data(), better);
      worse.exponentials = worse.scores;
      std::fill(worse.exponentials.begin() + static_cast<int64_t>(worse.at.size()), worse.exponentials.end(),
                span.centre);
      pair_loops<double>().exponentials(worse.exponentials.data(), worse.padded(), w_.steepness, span.centre);
      worse.inverses.resize(worse.exponentials.size());
      for (size_t j = 0; j < worse.inverses.size(); ++j) worse.inverses[j] = 1 / worse.exponentials[j];
    }
  }

  /// Returns the sums of the first n pairs of the better row i, the list's better row number `slot`, and adds their
  /// terms to those of the worse rows.
  PairFormSums sum(int64_t i, Worse& worse, int64_t n, [[maybe_unused]] int64_t slot) const {
    double* const curvatures = worse.curvatures.empty() ? nullptr : worse.curvatures.data();
    if constexpr (std::is_same_v<Form, LogisticPair>) {
      if (!worse.exponentials.empty())
        return pair_form_loops().curved_ranknet(
            {worse.scores.data(), worse.exponentials.data(), worse.inverses.data(), worse.weights.data()}, n,
            w_.scores[i], worse.of_better[slot], w_.steepness, worse.slopes.data(), curvatures);
    }
    return pair_form_loops().of(w_.form)(w_.form, worse.scores.data(), worse.weights.data(), n, w_.scores[i],
                                         w_.steepness, worse.slopes.data(), curvatures);
  }

  static Real squared(Real x) { return x * x; }

  /// Adds factor times its term to the entry of every worse row, unless `out` is null.
  static void add_to_worse(const Worse& worse, Real factor, const std::vector<double>& terms, const Span<Real>& out) {
    for (size_t j = 0; out.data != nullptr && j < worse.at.size(); ++j) {
      out[worse.at[j]] += static_cast<Real>(factor * terms[j]);
    }
  }

  /// Computes the weights of the pairs in which row `at` is better. Returns the number of worse rows, padded, or 0 if
  /// all weights are 0.
  template <class Delta>
  int64_t weigh(int64_t at, Worse& worse, const Delta& delta) const {
    const Row& i = w_.rows[at];
    const double own = row_weight(w_.weights, at);
    if constexpr (has_vector_weights) return weigh_first(i, own, worse.padded(), worse) > 0 ? worse.padded() : 0;
    double heaviest = 0;
    for (size_t j = 0; j < worse.at.size(); ++j) {
      const Row row = worse.row(j);
      worse.weights[j] = are_pair<Swaps>(at, i, worse.at[j], row) ? own * delta(i, row) : 0;
      heaviest = std::max(heaviest, worse.weights[j]);
    }
    return heaviest > 0 ? worse.padded() : 0;
  }

  /// Like `weigh`, for worse rows that are sorted by level: only the first ones make pairs.
  template <class Delta>
  int64_t weigh_lower(int64_t at, Worse& worse, const Delta& delta) const {
    const Row i = w_.rows[at];
    const double own = row_weight(w_.weights, at);
    const int64_t n = own > 0 ? worse.below(i.level) : 0;
    if constexpr (has_vector_weights) {
      weigh_first(i, own, filled_up(n), worse);
      return filled_up(n);
    }
    double* const weights = worse.weights.data();
    for (int64_t j = 0; j < n; ++j) weights[j] = own * delta(i, worse.row(static_cast<size_t>(j)));
    std::fill(weights + n, weights + filled_up(n), 0.0);
    return filled_up(n);
  }

  /// Computes the weights of the first n pairs of row i by vectors, and returns the largest.
  static double weigh_first(const SwapRow& i, double own, int64_t n, Worse& worse) {
    constexpr size_t level = offsetof(SwapRow, level) / sizeof(double),
                     share = offsetof(SwapRow, share) / sizeof(double);
    return pair_form_loops().sum_swap_weights(i, worse.column(level), worse.column(share), n, own,
                                              worse.weights.data());
  }
  static constexpr bool has_vector_weights = std::is_same_v<Swaps, SumSwaps>;

  /// True if rows with the best grade are left out of the worse rows. They are never the worse row of a pair of unequal
  /// grades.
  static constexpr bool only_worse = !requires { Swaps::every_pair; };
  /// Returns true if worse rows are sorted by level, which saves the pairs of equal levels. It changes the order of
  /// sums, so only trees, which need curvatures, sort rows.
  bool by_level() const { return only_worse && w_.curvature.data != nullptr; }
  const LambdaLoss<Real, Swaps, Form>& w_;
};

template <class Real, class Swaps, class Form>
void lambda_loss(int64_t count, const LambdaLoss<Real, Swaps, Form>& work) {
  const LambdaLossByTarget<Real, Swaps, Form> by_target(work);
  const auto run = [&](int64_t list) { by_target(InterruptibleGroup{}, list); };
  constexpr double of_list = 500, of_pair = 0.5;  // estimated nanoseconds
  const auto time = [&](int64_t list) {
    return of_list + of_pair * static_cast<double>(work.of.better.size(list) * work.of.lists.size(list));
  };
  parallel_by_cost(count, time, run);
}

template <class Real, class Swaps, class Form>
void replace(void (*&kernel)(int64_t, const LambdaLoss<Real, Swaps, Form>&)) {
  kernel = &lambda_loss<Real, Swaps, Form>;
}

template <class Real>
void with_fast_forms(LambdaKernels<Real>& table) {
  std::apply([](auto&... kernels) { (replace(kernels), ...); }, table.all);
}

}  // namespace
}  // namespace cpu

MR_CPU_TABLE(LambdaKernels, float, cpu::with_fast_forms)
MR_CPU_TABLE(LambdaKernels, double, cpu::with_fast_forms)

}  // namespace mr
