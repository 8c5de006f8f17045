// Second derivative of a pairwise loss (lambda.h) by each score alone, for Newton steps of trees (LambdaMART; Burges
// 2010, section 7). Each pair adds a^2 |Delta M_ij| c(t) to both of its rows, where t = a (s_j - s_i) and c is the
// curvature of the pair's cost (pair_forms.h). Delta M_ij has no gradient. Only on the CPU, where trees are grown.
#pragma once

#include <vector>

#include "kernels/core/scratch.h"
#include "kernels/core/threads.h"
#include "kernels/losses/pairs/lambda.h"
#include "kernels/tensor/functions_cpu.h"

namespace mr::cpu {

/// Arrays for the pairs of one row with later rows of its list: their weights, and t = a (s_j - s_i). `curvatures`
/// computes each pair's second derivative at t into `out`. The arrays have room for all pairs of a row; `count` of
/// them are in use.
struct LaterPairs {
  std::vector<int64_t> at;
  std::vector<double> weights, t, out;
  size_t count = 0;

  auto in_use() { return Kept(at, weights, t, out); }
  void make_room(int64_t pairs) {
    at.resize(static_cast<size_t>(pairs));
    for (auto* each : {&weights, &t, &out}) each->resize(static_cast<size_t>(pairs));
  }
  void add(int64_t row, double weight, double wrong_by) {
    at[count] = row;
    weights[count] = weight;
    t[count] = wrong_by;
    ++count;
  }

  template <class Form>
  void curvatures(const Form& form) {
    for (size_t k = 0; k < count; ++k) out[k] = form.curvature(t[k]);
  }
  /// Computes the curvature (second derivative) of the logistic cost for each pair. The sigmoids, which take most of
  /// the time, are computed by the vector loop of tensor functions, which gives the same bits.
  void curvatures(const LogisticPair&) {
    chosen_loops<FunctionLoops<double>>().sigmoid.values(t.data(), out.data(), static_cast<int64_t>(count));
    for (size_t k = 0; k < count; ++k) out[k] = LogisticPair::curvature_at_sigmoid(out[k]);
  }
};

/// Computes the second derivative of a pairwise loss by each score alone. `rows`, `spare` and `curvature` have an
/// entry per row. Each pair is computed once.
template <class Swaps, class Form>
struct LambdaCurvature {
  using Row = typename Swaps::Row;
  RankedRows of;
  Swaps swaps;
  Span<Row> rows;
  Span<double> spare;
  Span<const double> scores;
  double steepness;
  Form form;
  Span<const double> weights;
  Span<double> curvature;

  void operator()(const SerialGroup& group, int64_t list) const {
    static constinit thread_local OfThread<LaterPairs> the_pairs;
    LaterPairs& pairs = the_pairs.get();
    const auto kept = pairs.in_use();
    swaps.fill(group, list, of, rows, spare);
    const auto delta = swaps.delta(group, list, of, rows);
    const int64_t at = of.lists.begin(list), end = at + of.lists.size(list);
    pairs.make_room(2 * (end - at));
    for (int64_t i = at; i < end; ++i) curvature[i] = 0;
    for (int64_t i = at; i < end; ++i) {
      check_interrupt();
      pairs.count = 0;
      for (int64_t j = i + 1; j < end; ++j) {
        add_pair(delta, i, j, j, pairs);
        add_pair(delta, j, i, j, pairs);
      }
      add_up(i, pairs);
    }
    for (int64_t i = at; i < end; ++i) curvature[i] = steepness * steepness * curvature[i];
  }

 private:
  template <class Delta>
  void add_pair(const Delta& delta, int64_t better, int64_t worse, int64_t later, LaterPairs& pairs) const {
    if (!are_pair<Swaps>(better, rows[better], worse, rows[worse])) return;
    pairs.add(later, row_weight(weights, better) * delta(rows[better], rows[worse]),
              score_difference(scores[worse], scores[better], steepness));
  }

  /// Gives every row the sum over its pairs, in the order of the other rows in the list.
  void add_up(int64_t i, LaterPairs& pairs) const {
    constexpr size_t of_two_rows = requires { Swaps::every_pair; }
    ? 2 : 1;
    pairs.curvatures(form);
    double sum = curvature[i];
    for (size_t k = 0; k < pairs.count; k += of_two_rows) {
      double term = pairs.weights[k] * pairs.out[k];
      if constexpr (of_two_rows == 2) term += pairs.weights[k + 1] * pairs.out[k + 1];
      sum += term;
      curvature[pairs.at[k]] += term;
    }
    curvature[i] = sum;
  }
};

}  // namespace mr::cpu
