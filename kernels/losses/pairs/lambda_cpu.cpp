// Pairwise losses on the CPU. Every pair is computed once, and the pairs of one better row go through a vector loop
// together.
#include <algorithm>
#include <vector>

#include "kernels/core/launch_cpu.h"
#include "kernels/losses/pairs/pair_form_sums.h"
#include "kernels/losses/rows.h"
#include "kernels/smooth/pair_pieces.h"

namespace mr {
namespace cpu {
namespace {

/// Arrays of one thread. They have an entry for each row of a list that can be the worse row of a pair.
template <class Row>
struct Worse {
  std::vector<int64_t> at;
  std::vector<Row> rows;
  std::vector<double> scores, weights, slopes, curvatures;

  auto in_use() { return Kept(at, rows, scores, weights, slopes, curvatures); }
  void clear() {
    for (auto* each : {&scores, &weights, &slopes, &curvatures}) each->clear();
    at.clear();
    rows.clear();
  }
};

template <class Real, class Swaps, class Form>
class LambdaLossByTarget {
  using Row = typename Swaps::Row;
  using Worse = cpu::Worse<Row>;

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
    worse.clear();
    for (int64_t k = at; k < end; ++k) {
      if (only_worse && w_.rows[k].level == best) continue;
      worse.at.push_back(k);
      worse.rows.push_back(w_.rows[k]);
      worse.scores.push_back(w_.scores[k]);
    }
    const auto size = static_cast<size_t>(filled_up(static_cast<int64_t>(worse.at.size())));
    for (auto* each : {&worse.scores, &worse.weights, &worse.slopes}) each->resize(size, 0.0);
    if (w_.curvature.data != nullptr) worse.curvatures.resize(size, 0.0);
    for (const auto& each : {w_.derivative, w_.curvature}) {
      for (int64_t k = at; each.data != nullptr && k < end; ++k) each[k] = 0;
    }
  }

  /// Returns the value of the list. Each derivative of a row has two parts: pairs in which it is better, and pairs in
  /// which it is worse.
  template <class Delta>
  double add_up(int64_t list, Worse& worse, const Delta& delta) const {
    const auto sum = pair_form_loops().of(w_.form);
    double value = 0;
    for (int64_t slot = 0; slot < w_.of.better.size(list); ++slot) {
      check_interrupt();
      const int64_t i = w_.of.lists.begin(list) + w_.of.better(list, slot);
      if (!weigh(i, worse, delta)) continue;
      const PairFormSums sums =
          sum(w_.form, worse.scores.data(), worse.weights.data(), filled(worse), w_.scores[i], w_.steepness,
              worse.slopes.data(), worse.curvatures.empty() ? nullptr : worse.curvatures.data());
      value += sums.value;
      if (w_.derivative.data != nullptr) w_.derivative[i] = static_cast<Real>(-w_.steepness * sums.slope);
      if (w_.curvature.data != nullptr) w_.curvature[i] = static_cast<Real>(squared(w_.steepness) * sums.curvature);
    }
    add_to_worse(worse, w_.steepness, worse.slopes, w_.derivative);
    add_to_worse(worse, squared(w_.steepness), worse.curvatures, w_.curvature);
    return value;
  }

  static Real squared(Real x) { return x * x; }

  /// Adds factor times its term to the entry of every worse row, unless `out` is null.
  static void add_to_worse(const Worse& worse, Real factor, const std::vector<double>& terms, const Span<Real>& out) {
    for (size_t j = 0; out.data != nullptr && j < worse.at.size(); ++j) {
      out[worse.at[j]] += static_cast<Real>(factor * terms[j]);
    }
  }

  static int64_t filled(const Worse& worse) { return static_cast<int64_t>(worse.scores.size()); }

  /// Computes the weights of the pairs in which row `at` is better. Returns true if a weight is not 0.
  template <class Delta>
  bool weigh(int64_t at, Worse& worse, const Delta& delta) const {
    const Row& i = w_.rows[at];
    const double own = row_weight(w_.weights, at);
    double heaviest = 0;
    for (size_t j = 0; j < worse.rows.size(); ++j) {
      const Row& row = worse.rows[j];
      worse.weights[j] = are_pair<Swaps>(at, i, worse.at[j], row) ? own * delta(i, row) : 0;
      heaviest = std::max(heaviest, worse.weights[j]);
    }
    return heaviest > 0;
  }

  /// True if rows with the best grade are left out of the worse rows. They are never the worse row of a pair of unequal
  /// grades.
  static constexpr bool only_worse = !requires { Swaps::every_pair; };
  const LambdaLoss<Real, Swaps, Form>& w_;
};

template <class Real, class Swaps, class Form>
void lambda_loss(int64_t count, const LambdaLoss<Real, Swaps, Form>& work) {
  Backend::lists(count, LambdaLossByTarget<Real, Swaps, Form>(work));
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
