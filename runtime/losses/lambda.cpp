// Pairwise losses of judged lists, one value per list.
#include <algorithm>
#include <string>

#include "runtime/autograd/node.h"
#include "runtime/losses/list_loss.h"
#include "runtime/losses/pair_losses.h"

namespace mr {
namespace {

template <class Swaps, class Form>
Tensor loss_of(const char* name, const Tensor& scores, const PairLoss<Swaps, Form>& pairs) {
  const LossAndSlope out(scores.data(), pairs.ranking.lists, recording({scores}));
  compute(pairs, scores, out);
  return recorded(name, scores, pairs.ranking.lists, out);
}

/// Calls use(form), where `form` is the cost of a pair of rows that LambdaRank's option `pair` names.
template <class Use>
Tensor with_pair_form(const std::string& pair, Use use) {
  if (pair == "logistic") return use(LogisticPair{});
  std::string expected = "'logistic'";
#define MR_CHANGE(name, Form)            \
  if (pair == #name) return use(Form{}); \
  expected += " or '" #name "'";
  MR_PAIR_FORMS(MR_NO_PAIR_FORM, MR_CHANGE)
#undef MR_CHANGE
  throw ArgumentError("pair", "'" + pair + "', expected " + expected);
}

Tensor lambda_loss(const Tensor& scores, const Lists& lists, const Metric& metric, double steepness,
                   const std::string& pair) {
  return with_pair_form(pair, [&](auto form) {
    return metric_pairs(scores.data(), lists, metric, steepness).visit([&](auto pairs) {
      return loss_of("lambda_loss", scores, costing(std::move(pairs), form));
    });
  });
}

Tensor declared_lambda_loss(const Tensor& scores, const Lists& lists, const Tensor& gains, const Tensor& discounts,
                            const Tensor& norms, double steepness, const std::string& pair) {
  return with_pair_form(pair, [&](auto form) {
    return loss_of("declared_lambda_loss", scores,
                   costing(declared_pairs(scores.data(), lists, gains, discounts, norms, steepness), form));
  });
}

template <class Form>
Tensor pair_loss(const Tensor& scores, const Lists& lists, double parameter) {
  return loss_of(PairNames<Form>::loss, scores, equal_weights<Form>(scores.data(), lists, parameter));
}

Tensor ranknet_all_pairs_loss(const Tensor& scores, const Lists& lists, double steepness, double upsample,
                              std::optional<Tensor> upsample_of) {
  return loss_of("ranknet_all_pairs_loss", scores, all_pairs(scores.data(), lists, steepness, upsample, upsample_of));
}

struct EqualPairs {
  auto operator<=>(const EqualPairs&) const = default;
};

/// Returns the number of unordered pairs of rows with equal grades.
double equal_pairs_of(const float* grades, int64_t n) {
  std::vector<float> sorted(grades, grades + n);
  std::sort(sorted.begin(), sorted.end());
  int64_t pairs = 0, equal = 0;
  for (int64_t i = 1; i < n; ++i) {
    equal = sorted[i] == sorted[i - 1] ? equal + 1 : 0;
    pairs += equal;
  }
  return static_cast<double>(pairs);
}

Tensor equal_pairs(const Lists& lists) {
  return Tensor::from(lists.per_list<double>(EqualPairs{}, &equal_pairs_of), Device::cpu);
}

Tensor ndcg_loss_1(const Tensor& scores, const Lists& lists, double steepness) {
  return loss_of("ndcg_loss_1", scores, ndcg_1_pairs(scores.data(), lists, steepness));
}

Tensor ndcg_loss_2(const Tensor& scores, const Lists& lists, double steepness, double mu, bool with_swaps) {
  return loss_of("ndcg_loss_2", scores, ndcg_2_pairs(scores.data(), lists, steepness, mu, with_swaps));
}

}  // namespace

#define MR_LOSS(name, Form, parameter, formula)                          \
  lua::op<&pair_loss<Form>>(#name "_loss", "scores, lists, " #parameter, \
                            "Sum per list over pairs of rows with grades y_i > y_j of " formula "."),

extern const lua::OpTable lambda_functions{
    lua::OpTable::functions,
    nullptr,
    {lua::op<&lambda_loss>(
         "lambda_loss", "scores, lists, metric, steepness, pair",
         "LambdaRank's loss per list. A pair weighs the change of the metric if its rows swap ranks; `pair` "
         "names its cost."),
     lua::op<&declared_lambda_loss>("declared_lambda_loss", "scores, lists, gains, discounts, norms, steepness, pair",
                                    "LambdaRank's loss per list, for a metric with a gain per row, a discount for the "
                                    "ranks 1, 3/2, 2, ... and a norm per list."),
     lua::op<&ranknet_all_pairs_loss>(
         "ranknet_all_pairs_loss", "scores, lists, steepness, upsample, upsample_of?",
         "RankNet's loss per list over all pairs, with targets 1, 1/2 and 0. A pair of unequal "
         "grades counts `upsample` times, or as often as the list's entry of `upsample_of` says."),
     lua::op<&equal_pairs>("equal_pairs", "lists", "Number of pairs of rows with equal grades in each list, float64."),
     lua::op<&ndcg_loss_1>("ndcg_loss_1", "scores, lists, steepness", "LambdaLoss's NDCG-Loss1 per list."),
     lua::op<&ndcg_loss_2>("ndcg_loss_2", "scores, lists, steepness, mu, with_swaps",
                           "LambdaLoss's NDCG-Loss2 per list, or NDCG-Loss2++ if `with_swaps`."),
     MR_PAIR_FORMS(MR_LOSS, MR_NO_PAIR_FORM)}};

#undef MR_LOSS

}  // namespace mr
