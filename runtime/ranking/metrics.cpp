// Exact metrics of rankings, one value per list.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/ranking/rows.h"
#include "runtime/ops/check.h"
#include "runtime/ranking/ideal.h"
#include "runtime/ranking/prefix.h"
#include "runtime/ranking/ranking.h"
#include "runtime/ranking/smooth.h"

namespace mr {
namespace {

constexpr float any_grade = std::numeric_limits<float>::denorm_min();

Gain to_gain(const std::string& name) {
  if (name == "exp2") return Gain::exp2;
  if (name == "linear") return Gain::linear;
  if (name == "exp2_plus_one") return Gain::exp2_plus_one;
  throw ArgumentError("gain", "no gain '" + name + "': there are 'exp2', 'linear' and 'exp2_plus_one'");
}

/// What a list without relevant rows counts as; `skip` shows as NaN and is left out of means by who makes them.
double to_empty(const std::string& name) {
  if (name == "zero") return 0;
  if (name == "one") return 1;
  if (name == "skip" || name == "nan") return std::numeric_limits<double>::quiet_NaN();
  throw ArgumentError("empty", "no rule '" + name + "': there are 'skip', 'zero', 'one' and 'nan'");
}

/// No k: more than any list has rows.
int64_t to_cutoff(std::optional<int64_t> k) {
  if (k && *k < 1) throw ArgumentError("k", std::to_string(*k) + ", expected at least 1");
  return k.value_or(std::numeric_limits<int32_t>::max());
}

Chosen relevant_rows(const Ranking& r) { return r.lists.relevant_rows(r.threshold, r.device).view(); }

/// Runs a kernel of the ranking's device and type over the rows that count; `work` makes the functor from the views.
template <class Work>
Tensor run(const Ranking& r, Chosen counted, int64_t k, const std::string& empty, Work work) {
  Tensor out = Tensor::empty({r.lists.count()}, r.dtype, r.device);
  with_real(r.dtype, [&]<class Real>() {
    const MetricViews<Real> views{
        r.placements(),  r.lists.view(r.device), r.lists.relevance(r.device).span<const float>(), counted, k,
        to_empty(empty), out.span<Real>()};
    work(kernels<MetricKernels<Real>>(r.device), views);
  });
  return out;
}

Tensor dcg(const Ranking& r, std::optional<int64_t> k, const std::string& gain, bool normalized,
           const std::string& empty) {
  const Gain kind = to_gain(gain);
  const Tensor ideal = ideal_dcg(r.lists, r.device, kind, to_cutoff(k)),
               discounts = discount_sums(r.lists.longest(), r.device);
  // where grade 0 gains something every row counts
  const Chosen gaining = kind == Gain::exp2_plus_one
                             ? Chosen{r.lists.view(r.device), nullptr}
                             : r.lists.relevant_rows(kind == Gain::exp2 ? any_gain() : any_grade, r.device).view();
  return run(
      r, gaining, to_cutoff(k), empty, [&]<class Real>(const MetricKernels<Real>& table, const MetricViews<Real>& v) {
        table.dcg(r.lists.count(), {v, kind, discounts.span<const double>(), ideal.span<const double>(), normalized});
      });
}

Tensor average_precision(const Ranking& r, std::optional<int64_t> k, const std::string& denominator,
                         const std::string& empty) {
  if (denominator != "relevant" && denominator != "cutoff") {
    throw ArgumentError("denominator", "'" + denominator + "', expected 'relevant' or 'cutoff'");
  }
  const Tensor harmonic = harmonic_sums(r.lists.longest(), r.device);
  return run(r, relevant_rows(r), to_cutoff(k), empty,
             [&]<class Real>(const MetricKernels<Real>& table, const MetricViews<Real>& v) {
               table.average_precision(r.lists.count(), {v, harmonic.span<const double>(), denominator == "cutoff"});
             });
}

Tensor rank_biased_precision(const Ranking& r, double p, bool normalized, std::optional<int64_t> k,
                             const std::string& empty) {
  if (!(p > 0 && p < 1)) throw ArgumentError("p", std::to_string(p) + ", expected a number between 0 and 1");
  return run(r, relevant_rows(r), to_cutoff(k), empty,
             [&]<class Real>(const MetricKernels<Real>& table, const MetricViews<Real>& v) {
               table.rank_biased_precision(r.lists.count(), {v, p, normalized});
             });
}

/// The kernels that take nothing but the views.
template <template <class> class Functor>
Tensor plain(const Ranking& r, const std::string& empty, auto field) {
  return run(r, relevant_rows(r), to_cutoff({}), empty,
             [&]<class Real>(const MetricKernels<Real>& table, const MetricViews<Real>& v) {
               field(table)(r.lists.count(), Functor<Real>{v});
             });
}

Tensor nrbp_loss(const Ranking& r, const std::string& empty) {
  return plain<NrbpLoss>(r, empty, [](const auto& table) { return table.nrbp_loss; });
}
Tensor auc(const Ranking& r, const std::string& empty) {
  return plain<Auc>(r, empty, [](const auto& table) { return table.auc; });
}
Tensor bpref(const Ranking& r, const std::string& empty) {
  return plain<Bpref>(r, empty, [](const auto& table) { return table.bpref; });
}

Tensor hits_at(const Ranking& r, std::optional<int64_t> k, const std::string& over, const std::string& empty) {
  if (over != "k" && over != "relevant" && over != "both") {
    throw ArgumentError("over", "'" + over + "', expected 'k', 'relevant' or 'both'");
  }
  return run(r, relevant_rows(r), k ? to_cutoff(k) : 0, empty,
             [&]<class Real>(const MetricKernels<Real>& table, const MetricViews<Real>& v) {
               table.hits_at(r.lists.count(), {v, over == "k"      ? HitsAt<Real>::cutoff
                                                  : over == "both" ? HitsAt<Real>::both
                                                                   : HitsAt<Real>::relevant_rows});
             });
}

Tensor first_relevant(const Ranking& r, std::optional<int64_t> k, bool reciprocal, const std::string& empty) {
  return run(r, relevant_rows(r), to_cutoff(k), empty,
             [&]<class Real>(const MetricKernels<Real>& table, const MetricViews<Real>& v) {
               table.first_relevant(r.lists.count(), {v, reciprocal});
             });
}

Tensor expected_reciprocal_rank(const Ranking& r, std::optional<int64_t> k, std::optional<double> top,
                                const std::string& empty) {
  const auto& grades = r.lists.relevance();
  const double largest = grades.empty() ? 0 : *std::max_element(grades.begin(), grades.end());
  if (top && *top < largest)
    throw ArgumentError("top",
                        std::to_string(*top) + ", expected at least the largest grade, " + std::to_string(largest));
  const Tensor order = order_of(r);
  Tensor scratch = Tensor::empty({r.ties == Ties::mean ? 4 * r.lists.rows() : 0}, Dtype::float64, r.device);
  return run(r, relevant_rows(r), to_cutoff(k), empty,
             [&]<class Real>(const MetricKernels<Real>& table, const MetricViews<Real>& v) {
               table.expected_reciprocal_rank(
                   r.lists.count(), {v, order.span<const int64_t>(), top.value_or(largest), scratch.span<double>()});
             });
}

/// Values made elsewhere, with the rule for lists without relevant rows applied.
Tensor with_empty(const Tensor& values, const Ranking& r, const std::string& empty) {
  check::per_list("values", values, r.lists);
  const std::vector<int64_t>& relevant = r.lists.relevant(r.threshold);
  Tensor out;
  with_real(values.dtype(), [&]<class Real>() {
    std::vector<Real> filled = values.to_vector<Real>();
    for (size_t l = 0; l < filled.size(); ++l) {
      if (relevant[l] == 0) filled[l] = static_cast<Real>(to_empty(empty));
    }
    out = Tensor::from(filled, values.device());
  });
  return out;
}

}  // namespace

using lua::op;
extern const lua::OpTable metric_functions{
    lua::OpTable::functions,
    nullptr,
    {
        op<&dcg>("dcg", "ranking, k, gain, normalized, empty", "DCG or nDCG per list."),
        op<&average_precision>("average_precision", "ranking, k, denominator, empty", "Average precision per list."),
        op<&rank_biased_precision>("rank_biased_precision", "ranking, p, normalized, k, empty",
                                   "RBP(p) or nRBP(p) per list."),
        op<&nrbp_loss>("nrbp_loss", "ranking, empty", "Wrongly ordered pairs per list."),
        op<&auc>("auc", "ranking, empty", "Share of rightly ordered pairs per list."),
        op<&bpref>("bpref", "ranking, empty", "bpref per list."),
        op<&hits_at>("hits_at", "ranking, k, over, empty",
                     "Relevant rows within k (nil: P) over k ('k'), over P ('relevant') or over their mean ('both')."),
        op<&first_relevant>("first_relevant", "ranking, k, reciprocal, empty",
                            "Reciprocal rank of the first relevant row, or whether it is within k."),
        op<&expected_reciprocal_rank>("expected_reciprocal_rank", "ranking, k, top, empty", "ERR per list."),
        op<&with_empty>("with_empty", "values, ranking, empty",
                        "Values per list, with what counts for lists without relevant rows."),
    }};

}  // namespace mr
