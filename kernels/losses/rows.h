// The kernels of losses. Pairwise: one for pairs that all count 1, and one for every form of swap differences that a
// metric has (kernels/ranking/rows.h). Pointwise and listwise: one each.
#pragma once

#include <tuple>
#include <variant>

#include "kernels/core/table.h"
#include "kernels/losses/lambda.h"
#include "kernels/losses/listwise.h"
#include "kernels/losses/neural_ndcg.h"
#include "kernels/losses/own_scores.h"
#include "kernels/losses/pointwise.h"
#include "kernels/losses/soft_rank.h"
#include "kernels/losses/top_ranks.h"
#include "kernels/ranking/rows.h"

namespace mr {

template <class Real, class Forms>
struct LambdaKernelsOf;
template <class Real, class... Swaps>
struct LambdaKernelsOf<Real, std::variant<Swaps...>> {
  template <class Each>
  using Kernel = void (*)(int64_t count, const LambdaLoss<Real, Each>& work);
  std::tuple<Kernel<PairSwaps>, Kernel<Swaps>...> all;

  template <class Each>
  Kernel<Each> of() const {
    return std::get<Kernel<Each>>(all);
  }
  template <class Backend>
  void fill() {
    all = {&Backend::template lists<LambdaLoss<Real, PairSwaps>>, &Backend::template lists<LambdaLoss<Real, Swaps>>...};
  }
};

template <class Real>
struct LambdaKernels : LambdaKernelsOf<Real, MetricSwaps> {
  template <class Backend>
  static LambdaKernels made_for() {
    LambdaKernels table;
    table.template fill<Backend>();
    return table;
  }
};

#define MR_ROW_LOSS_ROWS(LISTS, ELEMENTS)               \
  LISTS(squared_error, SquaredErrorLoss)                \
  LISTS(binary_cross_entropy, BinaryCrossEntropyLoss)   \
  LISTS(squared_hinge, SquaredHingeLoss)                \
  LISTS(ordinal, OrdinalLoss)                           \
  LISTS(listnet, ListNetLoss)                           \
  LISTS(softmax_cross_entropy, SoftmaxCrossEntropyLoss) \
  LISTS(listmle, ListMleLoss)                           \
  LISTS(climf, ClimfLoss)                               \
  LISTS(tfmap, TfmapLoss)                               \
  LISTS(soft_rank, SoftRankLoss)                        \
  LISTS(neural_ndcg, NeuralNdcgLoss)                    \
  LISTS(top_relu, TopReluLoss)                          \
  LISTS(top_sigmoid, TopSigmoidLoss)

MR_KERNEL_TABLE(RowLossKernels, MR_ROW_LOSS_ROWS)

}  // namespace mr
