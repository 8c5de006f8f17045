// Finds the top rows of every list, for recommendations.
#include <algorithm>
#include <string>
#include <vector>

#include "kernels/core/threads.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/ops/gather.h"
#include "runtime/ranking/ranking.h"

namespace mr {
namespace {

struct TopRows {
  Tensor rows, scores, sizes;
  static constexpr auto fields =
      lua::fields("rows", &TopRows::rows, "scores", &TopRows::scores, "sizes", &TopRows::sizes);
};

template <class Real>
struct Row {
  Real score;
  int64_t row;
};

/// Finds the k rows with the highest scores, best first; of equal scores the lower row number. Uses a heap with the
/// worst row on top.
template <class Real>
void take_top(const Real* scores, int64_t n, int64_t k, std::vector<Row<Real>>& heap) {
  const auto better = [](const Row<Real>& a, const Row<Real>& b) {
    return a.score != b.score ? a.score > b.score : a.row < b.row;
  };
  heap.clear();
  int64_t i = 0;
  for (; i < std::min(k, n); ++i) heap.push_back({scores[i], i});
  std::make_heap(heap.begin(), heap.end(), better);
  for (; i < n; ++i) {
    // a row with the score of the worst row of the heap does not replace it, because its row number is larger
    if (!(scores[i] > heap.front().score)) continue;
    std::pop_heap(heap.begin(), heap.end(), better);
    heap.back() = {scores[i], i};
    std::push_heap(heap.begin(), heap.end(), better);
  }
  std::sort(heap.begin(), heap.end(), better);
}

/// Finds the top rows on the GPU: sorts all rows and takes the first of every list.
TopRows top_of_order(const Tensor& scores, const Lists& lists, const std::vector<int64_t>& sizes) {
  std::vector<int64_t> places;
  for (size_t l = 0; l < sizes.size(); ++l) {
    for (int64_t i = 0; i < sizes[l]; ++i) places.push_back(lists.offsets()[l] + i + 1);
  }
  const Tensor order = order_of(rank_rows(scores, lists, Ties::stable, 1));
  const Tensor rows = taken_along(order, 0, Tensor::from(places, scores.device()));
  return {rows, taken_along(scores, 0, rows), Tensor::from(sizes)};
}

/// Returns for every list the k rows with the highest scores: row numbers (counted from 1 within the batch), scores,
/// and the number of rows found per list, which is below k in short lists.
TopRows top_rows(const Tensor& scores, const Lists& lists, int64_t k) {
  check::per_row("scores", scores, lists);
  check::not_nan("top_rows", "scores", scores);
  if (k < 1) throw ArgumentError("k", std::to_string(k) + ", expected at least 1");
  std::vector<int64_t> sizes, offsets{0};
  for (const int64_t n : lists.sizes()) {
    sizes.push_back(std::min(k, n));
    offsets.push_back(offsets.back() + sizes.back());
  }
  if (scores.device() != Device::cpu) return top_of_order(scores, lists, sizes);
  TopRows out{Tensor::empty({offsets.back()}, Dtype::int64), Tensor::empty({offsets.back()}, scores.dtype()),
              Tensor::from(sizes)};
  with_real(scores.dtype(), [&]<class Real>() {
    const Real* const from = scores.span<const Real>().data;
    Real* const top = out.scores.span<Real>().data;
    int64_t* const rows = out.rows.span<int64_t>().data;
    cpu::parallel(lists.count(), 1, [&](int64_t first, int64_t last) {
      std::vector<Row<Real>> heap;
      for (int64_t l = first; l < last; ++l) {
        const int64_t at = lists.offsets()[l];
        if (sizes[l] > 0) take_top(from + at, lists.sizes()[l], k, heap);
        for (int64_t i = 0; i < sizes[l]; ++i) {
          rows[offsets[l] + i] = at + heap[i].row + 1;
          top[offsets[l] + i] = heap[i].score;
        }
      }
    });
  });
  return out;
}

}  // namespace

extern const lua::OpTable top_functions{
    lua::OpTable::functions,
    nullptr,
    {lua::op<&top_rows>("top_rows", "scores, lists, k",
                        "Rows and scores of the top k of every list; of tied rows the lower number is first.")}};

}  // namespace mr
