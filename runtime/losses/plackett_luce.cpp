// Operations of losses over sampled rankings (kernels/losses/plackett_luce.h). stdlib/moonrank/losses/rankings.lua
// draws the rankings in blocks. It lays copies of the lists end to end, ranks each copy by noisy scores, computes
// metric and bound of each copy, and adds the results of all copies of a list.
#include <algorithm>
#include <optional>
#include <tuple>

#include "kernels/losses/rows.h"
#include "runtime/autograd/node.h"
#include "runtime/losses/list_loss.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/ranking/metric.h"
#include "runtime/ranking/ranking.h"

namespace mr {
namespace {

using Three = std::tuple<Tensor, Tensor, Tensor>;

int64_t checked_copies(const Lists& lists, int64_t count) {
  constexpr int64_t most = int64_t{1} << 31;
  if (count < 1 || count > most / std::max<int64_t>(1, std::max(lists.rows(), lists.count())))
    throw ArgumentError("count", std::to_string(count) + " copies of " + std::to_string(lists.rows()) +
                                     " rows, expected 1 or more, and at most 2^31 rows in all");
  return count;
}

/// Returns `count` copies of the lists, laid end to end.
Lists repeated(const Lists& lists, int64_t count) {
  checked_copies(lists, count);
  std::vector<int64_t> numbers(static_cast<size_t>(lists.count() * count));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int64_t>(i) % lists.count();
  return lists.select(numbers);
}

Tensor random_keys(const Tensor& scores, const Lists& lists, int64_t first, int64_t count, int64_t seed,
                   const std::string& stream, int64_t rows_before) {
  check_scores("sampled rankings", scores, lists);
  checked_copies(lists, count);
  if (first < 0 || first % 2 != 0)
    throw ArgumentError("first", std::to_string(first) + ", expected 0 or an even number");
  Tensor out = Tensor::empty({lists.rows() * count}, Dtype::float64, scores.device());
  with_real(scores.dtype(), [&]<class Real>() {
    kernels<RowLossKernels<Real>>(scores.device())
        .random_keys(lists.count() * ((count + 1) / 2), {.scores = scores.data().span<const Real>(),
                                                         .lists = lists.view(scores.device()),
                                                         .key = random_key(static_cast<uint64_t>(seed), stream.c_str()),
                                                         .rows_before = rows_before,
                                                         .first = first,
                                                         .rankings = count,
                                                         .out = out.span<double>()});
  });
  return out;
}

/// Returns a Ranking object in which the ranks of the rows are not computed. It suffices to read a metric's gains,
/// discounts and factors.
Ranking unranked(const Tensor& scores, const Lists& lists, const Metric& metric) {
  return {.lists = lists,
          .ties = Ties::stable,
          .threshold = metric.threshold(),
          .dtype = Dtype::float64,
          .device = scores.device(),
          .places = {}};
}

/// Returns the metric's changes if two rows swap ranks, if it is a sum over rows of a gain times a discount of the
/// rank. Returns nothing for other metrics.
std::optional<OwnedSwaps> swaps_of_sum(const Ranking& ranking, const Metric& metric) {
  if (metric.definition->swaps == nullptr || (metric.definition->loss_needs_top && !metric.top)) return std::nullopt;
  OwnedSwaps owned = metric.definition->swaps(ranking, metric);
  if (!std::holds_alternative<SumSwaps>(owned.views)) return std::nullopt;
  return owned;
}

bool sums_over_rows(const Metric& metric) {
  const Lists lists({2}, {1, 0});
  const Tensor scores = Tensor::from(std::vector<double>{1, 0});
  return swaps_of_sum(rank_rows(scores, lists, Ties::stable, metric.threshold()), metric).has_value();
}

/// Like `swaps_of_sum`, but throws if the metric is not a sum over rows of a gain times a discount.
OwnedSwaps need_sum(const Ranking& ranking, const Metric& metric) {
  if (auto owned = swaps_of_sum(ranking, metric)) return *std::move(owned);
  throw ArgumentError("metric", "'" + metric.name + "', expected a sum over rows of gain times discount, such as nDCG");
}

/// Returns the number of first ranks of each list on which the metric depends.
Tensor counted_ranks(const Tensor& scores, const Lists& lists, const Metric& metric) {
  std::vector<int64_t> ranks;
  for (const int64_t n : lists.sizes()) ranks.push_back(std::min(n, metric.k));
  return Tensor::from(ranks, scores.device());
}

/// Returns the sign of a metric that is factor * sum of gain * discount: -1 if the discounts grow with the rank
/// although a larger metric is better, as for AUC; else 1.
double sign_of(const Metric& metric, const std::vector<double>& discounts) {
  const bool grow = discounts.size() > 1 && discounts[1] > discounts[0];
  return grow && !metric.minimize() ? -1 : 1;
}

/// Returns the gains of rows, discounts of ranks and factors of lists, float64: the metric is factor * sum of gain *
/// discount, plus a number that is the same for all rankings of a list.
Three sum_terms(const Tensor& scores, const Lists& lists, const Metric& metric) {
  const Ranking of = unranked(scores, lists, metric);
  const OwnedSwaps owned = need_sum(of, metric);
  const auto& sum = std::get<SumSwaps>(owned.views);
  const auto numbers = [&](const Span<const double>& x) {
    for (const Tensor& each : owned.owned) {
      if (each.span<const double>().data == x.data) return each.to(Device::cpu);
    }
    throw ArgumentError("metric", "'" + metric.name + "', expected a sum over rows");
  };
  const Tensor discount = numbers(sum.discounts), norm = numbers(sum.norms);
  const double* const d = discount.span<const double>().data;
  std::vector<double> gains, discounts(d, d + discount.entries()), factors;
  for (const float y : lists.relevance())
    gains.push_back(sum.graded ? gain_of(y, sum.gain) - gain_of(0, sum.gain) : (y >= of.threshold ? 1 : 0));
  const double sign = sign_of(metric, discounts);
  for (int64_t l = 0; l < norm.entries(); ++l) {
    const double by = norm.span<const double>()[l];
    factors.push_back(by > 0 ? sign / by : 0);
  }
  return {Tensor::from(gains, scores.device()), Tensor::from(discounts, scores.device()),
          Tensor::from(factors, scores.device())};
}

/// Returns for each list how many of the first ranks the metric's sum includes.
Tensor summed_ranks(const Tensor& scores, const Lists& lists, const Metric& metric) {
  const OwnedSwaps owned = need_sum(unranked(scores, lists, metric), metric);
  if (!std::get<SumSwaps>(owned.views).first_relevant_only) return counted_ranks(scores, lists, metric);
  return Tensor::from(lists.relevant(metric.threshold()), scores.device());
}

/// Returns three tensors of zeros, to which the results of sampled rankings are added: the sum of metric values per
/// list, the sum of estimates per row, and the sum of values times estimates per row.
Three no_rankings(const Tensor& scores, const Lists& lists) {
  const auto zeros = [&](int64_t n) { return Tensor::zeros({n}, Dtype::float64, scores.device()); };
  return {zeros(lists.count()), zeros(lists.rows()), zeros(lists.rows())};
}

struct Terms {
  Tensor gains, discounts, weights;
};

/// Throws unless x has this type, this number of entries (any number if it is negative) and the device of the scores.
void need(const char* name, const Tensor& x, Dtype type, int64_t entries, const Tensor& scores) {
  check::type(name, x, type);
  if (entries >= 0 && x.entries() != entries)
    throw ArgumentError(name, "has " + std::to_string(x.entries()) + " entries, expected " + std::to_string(entries));
  if (x.device() != scores.device()) throw ArgumentError(name, "is on another device than scores: move one with :to()");
}

/// Throws unless the arguments of the Lua functions `add_log_slopes` and `add_pl_rank` have matching types, sizes and
/// devices. Returns the number of sampled rankings.
int64_t checked_rankings(const Tensor& scores, const Lists& lists, const Tensor& order, const Tensor& ranks,
                         const Tensor& values, const Three& before, const std::optional<Terms>& terms) {
  check_scores("sampled rankings", scores, lists);
  constexpr Dtype numbers = Dtype::float64;
  need("values", values, numbers, -1, scores);
  const int64_t count = lists.count() > 0 ? values.entries() / lists.count() : 0;
  need("values", values, numbers, count * lists.count(), scores);
  need("order", order, Dtype::int64, count * lists.rows(), scores);
  need("ranks", ranks, Dtype::int64, lists.count(), scores);
  need("value", std::get<0>(before), numbers, lists.count(), scores);
  need("plain", std::get<1>(before), numbers, lists.rows(), scores);
  need("weighted", std::get<2>(before), numbers, lists.rows(), scores);
  if (terms) {
    need("gains", terms->gains, numbers, lists.rows(), scores);
    need("discounts", terms->discounts, numbers, -1, scores);
    need("weights", terms->weights, numbers, lists.count(), scores);
  }
  return count;
}

Three added(const Tensor& scores, const Lists& lists, const Tensor& order, const Tensor& ranks, const Tensor& values,
            const Three& before, const std::optional<Terms>& terms) {
  const Device device = scores.device();
  const int64_t count = checked_rankings(scores, lists, order, ranks, values, before, terms);
  const auto numbers = [&](int64_t n) { return Tensor::empty({n}, Dtype::float64, device); };
  const Tensor slopes = numbers(order.entries()), spare = numbers(order.entries()), powers = numbers(lists.rows()),
               near = numbers(lists.count());
  Three out{std::get<0>(before).clone(), std::get<1>(before).clone(),
            terms ? std::get<2>(before) : std::get<2>(before).clone()};
  const auto view = [](const Tensor& x) { return x.span<const double>(); };
  with_real(scores.dtype(), [&]<class Real>() {
    const auto& table = kernels<RowLossKernels<Real>>(device);
    table.score_powers(lists.count(), {.scores = scores.data().span<const Real>(),
                                       .lists = lists.view(device),
                                       .powers = powers.span<double>(),
                                       .near = near.span<double>()});
    table.ranking_slopes(lists.count() * count, {.scores = scores.data().span<const Real>(),
                                                 .lists = lists.view(device),
                                                 .order = order.span<const int64_t>(),
                                                 .ranks = ranks.span<const int64_t>(),
                                                 .gains = terms ? view(terms->gains) : Span<const double>{},
                                                 .discounts = terms ? view(terms->discounts) : Span<const double>{},
                                                 .weights = terms ? view(terms->weights) : Span<const double>{},
                                                 .powers = view(powers),
                                                 .near = view(near),
                                                 .shares = spare.span<double>(),
                                                 .out = slopes.span<double>()});
    table.sum_of_rankings(lists.count(),
                          {.values = view(values),
                           .slopes = view(slopes),
                           .lists = lists.view(device),
                           .rankings = count,
                           .value = std::get<0>(out).template span<double>(),
                           .plain = std::get<1>(out).template span<double>(),
                           .weighted = terms ? Span<double>{} : std::get<2>(out).template span<double>()});
  });
  return out;
}

Three add_log_slopes(const Tensor& scores, const Lists& lists, const Tensor& order, const Tensor& ranks,
                     const Tensor& values, const Tensor& value, const Tensor& plain, const Tensor& weighted) {
  return added(scores, lists, order, ranks, values, {value, plain, weighted}, std::nullopt);
}

Three add_pl_rank(const Tensor& scores, const Lists& lists, const Tensor& order, const Tensor& ranks,
                  const Tensor& gains, const Tensor& discounts, const Tensor& weights, const Tensor& values,
                  const Tensor& value, const Tensor& plain) {
  return added(scores, lists, order, ranks, values, {value, plain, plain}, Terms{gains, discounts, weights});
}

/// Returns loss values with an autograd node: its backward pass multiplies `derivative` (by the scores) by the upstream
/// gradient.
Tensor with_slopes(const Tensor& scores, const Lists& lists, const Tensor& value, const Tensor& derivative) {
  check::per_list("value", value, lists);
  check::per_row("derivative", derivative, lists);
  LossAndSlope made(scores.data(), lists, false);
  made.value = value.to(scores.dtype());
  made.derivative = derivative.to(scores.dtype());
  return recorded("sampled_rankings_loss", scores, lists, made);
}

}  // namespace

extern const lua::OpTable plackett_luce_functions{
    lua::OpTable::functions,
    nullptr,
    {lua::op<&repeated>("repeated_lists", "lists, count", "`count` copies of all lists, laid end to end."),
     lua::op<&random_keys>("random_keys", "scores, lists, first, count, seed, stream, rows_before",
                           "Scores plus Gumbel noise for the random rankings number first (even), first + 1, ..., laid "
                           "end to end, float64."),
     lua::op<&sums_over_rows>("sums_over_rows", "metric",
                              "True if the metric is a sum over rows of a gain times a discount of the rank."),
     lua::op<&counted_ranks>("counted_ranks", "scores, lists, metric", "Ranks of each list up to the metric's cutoff."),
     lua::op<&summed_ranks>("summed_ranks", "scores, lists, metric",
                            "Ranks of each list that add to a metric which is a sum over rows."),
     lua::op<&sum_terms>("sum_terms", "scores, lists, metric",
                         "Gains of rows, discounts of ranks and factors of lists of such a metric, float64."),
     lua::op<&no_rankings>("no_rankings", "scores, lists", "The three sums of `add_log_slopes` over no rankings."),
     lua::op<&add_log_slopes>("add_log_slopes", "scores, lists, order, ranks, values, value, plain, weighted",
                              "Adds rankings to sums of values, of derivatives of log probabilities, and of both "
                              "multiplied."),
     lua::op<&add_pl_rank>("add_pl_rank",
                           "scores, lists, order, ranks, gains, discounts, weights, values, value, plain",
                           "Adds rankings to sums of values and of PL-Rank-3's estimates."),
     lua::op<&with_slopes>("with_slopes", "scores, lists, value, derivative",
                           "The values of a loss with given derivatives by the scores.")}};

}  // namespace mr
