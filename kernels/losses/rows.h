// The kernels of losses. Pairwise losses multiply the weight of a pair by its cost, with one kernel per combination:
// weight 1 and each cost of MR_PAIR_FORMS; the weights of LambdaLoss, and of RankNet over all pairs, and the logistic
// cost; the change of a metric if the rows swap ranks, and each cost of LambdaRank.
#pragma once

#include <tuple>
#include <variant>

#include "kernels/core/table.h"
#include "kernels/losses/listwise.h"
#include "kernels/losses/neural/neural_ndcg.h"
#include "kernels/losses/own_scores.h"
#include "kernels/losses/pairs/lambda.h"
#include "kernels/losses/pairs/pair_weights.h"
#include "kernels/losses/plackett_luce.h"
#include "kernels/losses/pointwise.h"
#include "kernels/losses/sampled_pairs.h"
#include "kernels/losses/slope.h"
#include "kernels/losses/soft_rank.h"
#include "kernels/losses/soft_sort.h"
#include "kernels/losses/soft_top.h"
#include "kernels/losses/top_ranks.h"
#include "kernels/ranking/rows.h"

namespace mr {

template <class Real, class Forms>
struct LambdaKernelsOf;
template <class Real, class... Swaps>
struct LambdaKernelsOf<Real, std::variant<Swaps...>> {
  template <class Work>
  using Kernel = void (*)(int64_t count, const Work& work);
#define MR_LOSS(name, Form, ...) , Kernel<LambdaLoss<Real, PairSwaps, Form>>
#define MR_CHANGE(name, Form) , Kernel<LambdaLoss<Real, TableSwaps, Form>>, Kernel<LambdaLoss<Real, Swaps, Form>>...
  std::tuple<Kernel<LambdaLoss<Real, TargetPairs>>, Kernel<LambdaLoss<Real, GainPairs>>,
             Kernel<LambdaLoss<Real, DistancePairs>>, Kernel<LambdaLoss<Real, TableSwaps>>,
             Kernel<LambdaLoss<Real, Swaps>>... MR_PAIR_FORMS(MR_LOSS, MR_CHANGE)>
      all;
#undef MR_LOSS
#undef MR_CHANGE

  template <class Each, class Form = LogisticPair>
  Kernel<LambdaLoss<Real, Each, Form>> of() const {
    return std::get<Kernel<LambdaLoss<Real, Each, Form>>>(all);
  }
  template <class Backend>
  void fill() {
    std::apply([](auto&... kernels) { (set<Backend>(kernels), ...); }, all);
  }

 private:
  template <class Backend, class Work>
  static void set(Kernel<Work>& kernel) {
    kernel = &Backend::template lists<Work>;
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
  LISTS(top_sigmoid, TopSigmoidLoss)                    \
  LISTS(soft_top, SoftTopLoss)                          \
  LISTS(projected_ndcg, ProjectedNdcgLoss)              \
  LISTS(softsort_ndcg, SoftSortNdcgLoss)                \
  LISTS(bpr, BprLoss)                                   \
  LISTS(lambdafm, LambdaFmLoss)                         \
  LISTS(warp, WarpLoss)                                 \
  LISTS(random_keys, RandomKeys)                        \
  LISTS(score_powers, ScorePowers)                      \
  LISTS(ranking_slopes, RankingSlopes)                  \
  LISTS(sum_of_rankings, SumOfRankings)                 \
  ELEMENTS(times_slope, TimesSlope)

MR_KERNEL_TABLE(RowLossKernels, MR_ROW_LOSS_ROWS)

}  // namespace mr
