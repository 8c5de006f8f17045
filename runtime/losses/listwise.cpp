// Listwise losses of judged lists, one value per list.
#include <algorithm>
#include <numeric>

#include "kernels/losses/rows.h"
#include "runtime/autograd/node.h"
#include "runtime/losses/list_loss.h"

namespace mr {
namespace {

/// Computes a loss that needs only scores and grades. kernel(table) returns the loss's kernel from the device's table
/// of kernels.
template <class Pick>
Tensor of_targets(const char* name, const Tensor& scores, const Lists& lists, Pick kernel) {
  check_scores(name, scores, lists);
  const LossAndSlope made(scores, lists, recording({scores}));
  const Device device = scores.device();
  with_real(scores.dtype(), [&]<class Real>() {
    kernel(kernels<RowLossKernels<Real>>(device))(lists.count(),
                                                  {.scores = scores.data().span<const Real>(),
                                                   .relevance = lists.relevance(device).span<const float>(),
                                                   .lists = lists.view(device),
                                                   .value = made.value.span<Real>(),
                                                   .derivative = made.slopes<Real>()});
  });
  return recorded(name, scores, lists, made);
}

Tensor listnet_loss(const Tensor& scores, const Lists& lists) {
  return of_targets("listnet_loss", scores, lists, [](const auto& table) { return table.listnet; });
}

Tensor softmax_cross_entropy_loss(const Tensor& scores, const Lists& lists) {
  return of_targets("softmax_cross_entropy_loss", scores, lists,
                    [](const auto& table) { return table.softmax_cross_entropy; });
}

struct ByGrade {
  auto operator<=>(const ByGrade&) const = default;
};
struct ByGradeOn {
  Device device;
  auto operator<=>(const ByGradeOn&) const = default;
};

/// Returns the rows of a list by descending grade. Rows with equal grades keep their order.
std::vector<int32_t> rows_by_grade(const float* grades, int64_t n) {
  std::vector<int32_t> rows(static_cast<size_t>(n));
  std::iota(rows.begin(), rows.end(), 0);
  std::stable_sort(rows.begin(), rows.end(), [&](int32_t a, int32_t b) { return grades[a] > grades[b]; });
  return rows;
}

/// Returns the rows of every list by descending grade, list after list, on a device. Cached in `lists`.
const DeviceArray<int32_t>& by_grade(const Lists& lists, Device device) {
  return lists.cached<DeviceArray<int32_t>>(ByGradeOn{device}, [&] {
    std::vector<int32_t> all;
    all.reserve(static_cast<size_t>(lists.rows()));
    for (const auto& rows : lists.per_list<std::vector<int32_t>>(ByGrade{}, &rows_by_grade))
      all.insert(all.end(), rows.begin(), rows.end());
    return DeviceArray<int32_t>(all, device);
  });
}

Tensor listmle_loss(const Tensor& scores, const Lists& lists, bool top_heavy) {
  check_scores("listmle_loss", scores, lists);
  const LossAndSlope made(scores, lists, recording({scores}));
  const Device device = scores.device();
  const Tensor tops = Tensor::empty({lists.rows()}, Dtype::float64, device);
  const Tensor totals = Tensor::empty({lists.rows()}, Dtype::float64, device);
  with_real(scores.dtype(), [&]<class Real>() {
    kernels<RowLossKernels<Real>>(device).listmle(
        lists.count(), {.scores = scores.data().span<const Real>(),
                        .by_grade = {lists.view(device), by_grade(lists, device).span().data},
                        .top_heavy = top_heavy,
                        .tops = tops.span<double>(),
                        .totals = totals.span<double>(),
                        .value = made.value.span<Real>(),
                        .derivative = made.slopes<Real>(),
                        .weights = lists.row_weights_view(device)});
  });
  return recorded("listmle_loss", scores, lists, made);
}

}  // namespace

extern const lua::OpTable listwise_functions{
    lua::OpTable::functions,
    nullptr,
    {lua::op<&listnet_loss>("listnet_loss", "scores, lists", "ListNet's loss per list, with top-one probabilities."),
     lua::op<&softmax_cross_entropy_loss>("softmax_cross_entropy_loss", "scores, lists",
                                          "Cross entropy of grades and the softmax of scores, per list."),
     lua::op<&listmle_loss>("listmle_loss", "scores, lists, top_heavy",
                            "ListMLE's loss per list, or p-ListMLE's if `top_heavy`.")}};

}  // namespace mr
