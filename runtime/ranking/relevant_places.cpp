// Computes the ranks of only the relevant rows of each list, by counting rows with higher scores. Most metrics need no
// other ranks, and lists of a whole catalogue have few relevant rows.
#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/core/threads.h"
#include "kernels/ranking/above.h"
#include "kernels/ranking/rows.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/ranking/ranking.h"

namespace mr {
namespace {

/// A distinct score among the relevant rows of a list. `place` counts the rows of the list above it and tied with it,
/// and how many of these are relevant.
template <class Real>
struct Bound {
  Real score;
  Placement place;
};

template <class Real>
class ListPlaces {
 public:
  ListPlaces(const Real* scores, const float* relevance, int64_t n, float threshold)
      : scores_(scores), relevance_(relevance), n_(n), threshold_(threshold) {}

  void put(const int32_t* rows, int64_t count, Placement* out) {
    bounds_.clear();
    for (int64_t i = 0; i < count; ++i) bounds_.push_back({scores_[rows[i]], {0, 0, 0, 0, 0}});
    std::sort(bounds_.begin(), bounds_.end(), higher);
    const auto same = [](const Bound<Real>& a, const Bound<Real>& b) { return a.score == b.score; };
    bounds_.erase(std::unique(bounds_.begin(), bounds_.end(), same), bounds_.end());
    count_rows();
    for (int64_t i = 0; i < count; ++i) at(rows[i]).relevant_tied += relevance_[rows[i]] >= threshold_ ? 1 : 0;
    int32_t relevant = 0;
    for (Bound<Real>& bound : bounds_) {
      bound.place.relevant_above = relevant;
      relevant += bound.place.relevant_tied;
    }
    for (int64_t i = 0; i < count; ++i) out[rows[i]] = at(rows[i]);
  }

 private:
  static bool higher(const Bound<Real>& a, const Bound<Real>& b) { return a.score > b.score; }
  Placement& at(int32_t row) {
    return std::lower_bound(bounds_.begin(), bounds_.end(), Bound<Real>{scores_[row], {}}, higher)->place;
  }

  void count_rows() {
    constexpr int most = cpu::AboveLoops<Real>::bounds;
    for (size_t first = 0; first < bounds_.size(); first += most) {
      const size_t here = std::min<size_t>(most, bounds_.size() - first);
      Real scores[most] = {};
      int32_t above[most], tied[most];
      for (size_t b = 0; b < here; ++b) scores[b] = bounds_[first + b].score;
      cpu::above_loops<Real>().count(scores_, n_, scores, above, tied);
      for (size_t b = 0; b < here; ++b) {
        bounds_[first + b].place.above = above[b];
        bounds_[first + b].place.tied = tied[b];
      }
    }
  }

  const Real* scores_;
  const float* relevance_;
  int64_t n_;
  float threshold_;
  std::vector<Bound<Real>> bounds_;
};

/// If lists have more relevant rows than this on average, sorting all rows is faster.
constexpr int64_t few = 128;

/// Returns a ranking under the tie rule `mean` in which only rows with a grade above 0, or of at least `relevant`, have
/// a rank. If there are many such rows, all rows have a rank.
Ranking relevant_ranking(const Tensor& scores, const Lists& lists, double relevant) {
  const auto threshold = static_cast<float>(relevant);
  const auto least = std::min(threshold, std::numeric_limits<float>::denorm_min());
  check::per_row("scores", scores, lists);
  if (!(threshold > 0) || lists.relevant_rows(least, Device::cpu).total > few * lists.count())
    return rank_rows(scores, lists, Ties::mean, threshold);
  check::not_nan("ranking", "scores", scores);
  Ranking out{.lists = lists,
              .ties = Ties::mean,
              .threshold = threshold,
              .dtype = scores.dtype(),
              .device = scores.device(),
              .places = {lists.rows(), scores.device()},
              .relevant_only = true};
  const ChosenRows& rows = lists.relevant_rows(least, scores.device());
  with_real(scores.dtype(), [&]<class Real>() {
    const Real* const from = scores.span<const Real>().data;
    Placement* const places = out.places.span().data;
    const Chosen chosen = rows.view();
    if (out.device != Device::cpu) {
      kernels<MetricKernels<Real>>(out.device)
          .place_chosen(lists.count(), {.scores = scores.span<const Real>(),
                                        .relevance = lists.relevance(out.device).span<const float>(),
                                        .lists = lists.view(out.device),
                                        .chosen = chosen,
                                        .threshold = threshold,
                                        .out = out.places.span()});
      return;
    }
    cpu::parallel_each(lists.count(), 1, [&](int64_t l) {
      const int64_t at = lists.offsets()[l];
      ListPlaces<Real>(from + at, lists.relevance().data() + at, lists.sizes()[l], threshold)
          .put(chosen.rows + chosen.begin(l), chosen.size(l), places + at);
    });
  });
  return out;
}

}  // namespace

extern const lua::OpTable relevant_ranking_functions{
    lua::OpTable::functions,
    nullptr,
    {lua::op<&relevant_ranking>("relevant_ranking", "scores, lists, relevant",
                                "A ranking with the places of relevant rows only, for metrics that need no others.")}};

}  // namespace mr
