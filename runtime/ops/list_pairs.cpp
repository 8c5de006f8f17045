// Pairs of rows with unequal grades, for losses of pairs that a script defines.
#include <algorithm>
#include <numeric>

#include "kernels/core/threads.h"
#include "runtime/autograd/node.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/ops/functions.h"
#include "runtime/ops/lists.h"

namespace mr {
namespace {

/// Returns a Lists object with one list of pairs for each list of rows. All grades are 0, because pairs have no grades.
Lists pairs_of_sizes(std::vector<int64_t> sizes) {
  std::vector<float> none(static_cast<size_t>(std::accumulate(sizes.begin(), sizes.end(), int64_t{0})));
  return {std::move(sizes), std::move(none)};
}

/// Caches which rows of a list have grades below `above`: they are `count` entries of the tensor of worse rows, from
/// entry `at` on.
struct WorseRows {
  float above;
  int64_t at, count;
};

/// Returns the pairs of rows (i, j) of one list in which the grade of i is larger. With a threshold `relevant`, returns
/// those in which the grade of i, but not that of j, reaches it. The pairs of a list stand together, in the order of i,
/// then of j.
std::tuple<Tensor, Tensor, Lists> row_pairs_of(const Lists& lists, const std::optional<double>& relevant) {
  const std::vector<float>& grades = lists.relevance();
  const auto least = static_cast<float>(relevant.value_or(0));
  std::vector<int64_t> sizes(static_cast<size_t>(lists.count()));
  const auto each_better = [&](int64_t l, const auto& f) {
    const int64_t first = lists.offsets()[l], last = first + lists.sizes()[l];
    for (int64_t i = first; i < last; ++i) {
      if (!relevant || grades[i] >= least) f(i, first, last, relevant ? least : grades[i]);
    }
  };
  cpu::parallel_each(lists.count(), 16, [&](int64_t l) {
    each_better(l, [&](int64_t, int64_t first, int64_t last, float above) {
      for (int64_t j = first; j < last; ++j) sizes[l] += grades[j] < above ? 1 : 0;
    });
  });
  const Lists pairs = pairs_of_sizes(std::move(sizes));
  Tensor better = Tensor::empty({pairs.rows()}, Dtype::int64), worse = Tensor::empty({pairs.rows()}, Dtype::int64);
  const auto first_of = better.span<int64_t>(), second_of = worse.span<int64_t>();
  cpu::parallel_each(lists.count(), 16, [&](int64_t l) {
    std::vector<WorseRows> known;
    int64_t at = pairs.offsets()[l];
    each_better(l, [&](int64_t i, int64_t first, int64_t last, float above) {
      auto rows = std::find_if(known.begin(), known.end(), [&](const WorseRows& k) { return k.above == above; });
      const int64_t from = at;
      if (rows != known.end()) {
        std::copy_n(&second_of.data[rows->at], rows->count, &second_of.data[at]);
        at += rows->count;
      } else {
        for (int64_t j = first; j < last; ++j) {
          if (grades[j] < above) second_of[at++] = j + 1;
        }
        if (known.size() < 8) known.push_back({above, from, at - from});
      }
      std::fill_n(&first_of.data[from], at - from, i + 1);
    });
  });
  return {better.to(default_device()), worse.to(default_device()), pairs};
}

/// Computes the gradient of pair_differences by the scores, on the CPU. The gradients of a row's pairs are added in the
/// order of the pairs, in double.
template <class Real>
Tensor back_to_rows(const Tensor& g, const Lists& lists, const Tensor& better, const Tensor& worse,
                    const Lists& pairs) {
  Tensor out = Tensor::zeros({lists.rows()}, g.dtype(), g.device());
  const auto upstream = g.span<const Real>();
  const auto first = better.span<const int64_t>(), second = worse.span<const int64_t>();
  const auto rows = out.span<Real>();
  cpu::parallel_each(lists.count(), 16, [&](int64_t l) {
    const int64_t begin = lists.offsets()[l];
    std::vector<double> sums(static_cast<size_t>(lists.sizes()[l]));
    for (int64_t k = pairs.offsets()[l]; k < pairs.offsets()[l + 1];) {
      // pairs with the same better row follow each other, so their gradients are added in one variable
      double total = 0;
      for (const int64_t row = first[k]; k < pairs.offsets()[l + 1] && first[k] == row; ++k) {
        total += static_cast<double>(upstream[k]);
        sums[static_cast<size_t>(second[k] - 1 - begin)] -= static_cast<double>(upstream[k]);
      }
      sums[static_cast<size_t>(first[k - 1] - 1 - begin)] += total;
    }
    for (size_t i = 0; i < sums.size(); ++i) rows[begin + static_cast<int64_t>(i)] = static_cast<Real>(sums[i]);
  });
  return out;
}

/// Throws if a row of a pair does not belong to the list of the pair.
void check_pairs(const Lists& lists, const Tensor& better, const Tensor& worse, const Lists& pairs) {
  if (pairs.count() != lists.count() || better.entries() != pairs.rows() || worse.entries() != pairs.rows())
    throw ArgumentError("pairs", std::to_string(pairs.rows()) + " pairs of " + std::to_string(pairs.count()) +
                                     " lists, expected the pairs of these lists");
  const auto first = better.span<const int64_t>(), second = worse.span<const int64_t>();
  cpu::parallel_each(lists.count(), 16, [&](int64_t l) {
    const int64_t begin = lists.offsets()[l], end = lists.offsets()[l + 1];
    bool inside = true;
    for (int64_t k = pairs.offsets()[l]; k < pairs.offsets()[l + 1]; ++k)
      inside = inside && first[k] > begin && first[k] <= end && second[k] > begin && second[k] <= end;
    if (!inside) throw ArgumentError("pairs", "pairs of list " + std::to_string(l + 1) + " have rows of another list");
  });
}

/// Returns the score differences s_i - s_j of pairs (i, j) of rows, which the Lua function `row_pairs` returned for
/// these lists.
Tensor pair_differences_of(const Tensor& scores, const Lists& lists, const Tensor& better_rows,
                           const Tensor& worse_rows, const Lists& pairs) {
  check::floating("scores", scores);
  check::per_row("scores", scores, lists);
  const Tensor better = better_rows.to(scores.device()), worse = worse_rows.to(scores.device());
  check::index("better", better, lists.rows());
  check::index("worse", worse, lists.rows());
  if (scores.device() != Device::cpu) return ops::sub(ops::rows(scores, better), ops::rows(scores, worse));
  check_pairs(lists, better, worse, pairs);
  Tensor out = Tensor::empty({pairs.rows()}, scores.dtype(), scores.device());
  with_real(scores.dtype(), [&]<class Real>() {
    const auto in = scores.span<const Real>();
    const auto first = better.span<const int64_t>(), second = worse.span<const int64_t>();
    const auto differences = out.span<Real>();
    cpu::parallel(pairs.rows(), 8192, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) differences[k] = in[first[k] - 1] - in[second[k] - 1];
    });
  });
  return record("pair_differences", out, {scores}, [lists, better, worse, pairs](const Tensor& g) -> Gradients {
    Tensor gx;
    with_real(g.dtype(), [&]<class Real>() { gx = back_to_rows<Real>(g, lists, better, worse, pairs); });
    return {gx};
  });
}

}  // namespace

extern const lua::OpTable list_pairs_functions{
    lua::OpTable::functions,
    nullptr,
    {lua::op<&row_pairs_of>("row_pairs", "lists, relevant",
                            "Rows with the higher and the lower grade of each pair of a list, and the pairs of each "
                            "list."),
     lua::op<&pair_differences_of>("pair_differences", "scores, lists, better, worse, pairs",
                                   "Differences of the scores of the pairs of row_pairs.")}};

}  // namespace mr
