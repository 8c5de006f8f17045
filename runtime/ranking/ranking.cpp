#include "runtime/ranking/ranking.h"

#include "kernels/core/threads.h"
#include "kernels/ranking/rows.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/tensor/name_order.h"

namespace mr {
namespace {

struct DocumentKey {
  Device device;
  auto operator<=>(const DocumentKey&) const = default;
};

void check_documents(const Lists& lists) {
  if (lists.documents().empty() && lists.rows() > 0)
    throw ArgumentError("ties",
                        "'trec' orders tied rows by document id, and these lists have none. Pass lists with documents, "
                        "or another tie rule");
}

/// Returns per row a number that increases with the document id within a list, for the tie rule of trec_eval on a GPU.
const Tensor& document_keys(const Lists& lists, Device device) {
  const Names& documents = lists.documents();
  return lists.cached<Tensor>(DocumentKey{device}, [&] {
    std::vector<int64_t> keys(documents.size());
    cpu::parallel_each(lists.count(), lists_per_task(lists.count(), lists.rows()), [&](int64_t list) {
      const int64_t at = lists.offsets()[list];
      const NameSpan names = documents_of(lists, list);
      const std::vector<int64_t> order = name_order(names);
      for (size_t r = 0; r < order.size(); ++r) {
        const bool same = r > 0 && names[order[r]] == names[order[r - 1]];
        keys[at + order[r]] = same ? keys[at + order[r - 1]] : static_cast<int64_t>(r);
      }
    });
    return Tensor::from(keys, device);
  });
}

/// Compares two names of an array, for RowNames.
int compare_names(const void* names, int64_t a, int64_t b) {
  const auto& all = *static_cast<const Names*>(names);
  return all[static_cast<size_t>(a)].compare(all[static_cast<size_t>(b)]);
}

Ranking ranking_of(const Tensor& scores, const Lists& lists, const std::string& ties, double relevant) {
  return rank_rows(scores, lists, value_of(tie_rules, "ties", ties), static_cast<float>(relevant));
}

/// Returns a copy of the ranking for which metrics return float64 values.
Ranking with_double(const Ranking& ranking) {
  Ranking out = ranking;
  out.dtype = Dtype::float64;
  return out;
}

std::string type_of_values(const Ranking& ranking) { return std::string(name_of(ranking.dtype)); }

void need_all(const Ranking& ranking) {
  if (ranking.relevant_only)
    throw ArgumentError("ranking", "has the places of relevant rows only, expected a ranking of all rows");
}

Tensor ranks_of(const Ranking& ranking) {
  need_all(ranking);
  Tensor out = Tensor::empty({ranking.lists.rows()}, ranking.dtype, ranking.device);
  with_real(ranking.dtype, [&]<class Real>() {
    kernels<MetricKernels<Real>>(ranking.device)
        .rank_of(out.entries(), {.places = ranking.placements(), .out = out.span<Real>()});
  });
  return out;
}

}  // namespace

Ranking rank_rows(const Tensor& scores, const Lists& lists, Ties ties, float threshold) {
  check::per_row("scores", scores, lists);
  check::not_nan("ranking", "scores", scores);
  const Device device = scores.device();
  Ranking out{.lists = lists,
              .ties = ties,
              .threshold = threshold,
              .dtype = scores.dtype(),
              .device = device,
              .places = {lists.rows(), device}};
  Span<const int64_t> keys;
  RowNames names;
  if (ties == Ties::trec) {
    check_documents(lists);
    // on the CPU, names are compared only where scores are equal
    if (device == Device::cpu)
      names = {&lists.documents(), &compare_names};
    else
      keys = document_keys(lists, device).span<const int64_t>();
  }
  with_real(scores.dtype(), [&]<class Real>() {
    kernels<MetricKernels<Real>>(device).place(lists.count(), {.scores = scores.span<const Real>(),
                                                               .relevance = lists.relevance(device).span<const float>(),
                                                               .keys = keys,
                                                               .lists = lists.view(device),
                                                               .threshold = threshold,
                                                               .ties = ties,
                                                               .out = out.places.span(),
                                                               .longest = out.lists.longest(),
                                                               .names = names});
  });
  return out;
}

Tensor order_of(const Ranking& ranking) {
  need_all(ranking);
  Tensor out = Tensor::empty({ranking.lists.rows()}, Dtype::int64, ranking.device);
  kernels<MetricKernels<double>>(ranking.device)
      .order_of(ranking.lists.count(), {ranking.placements(), ranking.lists.view(ranking.device), out.span<int64_t>()});
  return out;
}

using lua::op;
extern const lua::OpTable ranking_functions{
    lua::OpTable::functions,
    nullptr,
    {
        op<&ranking_of>("ranking", "scores, lists, ties, relevant",
                        "The place of every row in its list, under a tie rule."),
        op<&ranks_of>("ranks", "ranking",
                      "Rank of every row; under the tie rule 'mean', the middle of its run of ties."),
        op<&order_of>("order", "ranking", "Row numbers of each list by rank; of tied rows the lower number is first."),
    }};
extern const lua::OpTable ranking_methods{
    lua::OpTable::methods,
    &lua::push_metatable<Ranking>,
    {op<&with_double>("double", "self", "This ranking, for which metrics return float64 values.")}};
extern const lua::OpTable ranking_getters{
    lua::OpTable::getters,
    &lua::push_metatable<Ranking>,
    {op<&type_of_values>("dtype", "self", "The type of the scores and of metric values.")}};

}  // namespace mr
