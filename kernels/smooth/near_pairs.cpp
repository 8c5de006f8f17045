#include "kernels/smooth/near_pairs.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "kernels/core/scratch.h"
#include "kernels/ranking/ranks.h"
#include "kernels/smooth/boxes/box_table.h"
#include "kernels/smooth/pair_pieces.h"

namespace mr::cpu {
namespace {

/// If a row has at most this many rows near it in score, on average, sums over near pairs are faster than boxes
/// (measured by tests/bench/smooth_bench.cpp for lists of 4096 and 16384 rows on an AMD EPYC, Zen 5).
template <class Real>
constexpr int64_t most_near = sizeof(Real) == 4 ? 48 : 128;

/// For lists with fewer pairs than this, sorting takes longer than computing all exponentials.
constexpr int64_t least_pairs = 128;

/// number of pairs of near rows whose sigmoids are computed together
constexpr int64_t together = 4096;

/// Some rows of a list in ascending order of steepness x score. `scores` has these products, and `slots` says for each
/// which row it is, by row number or index.
struct Sorted {
  std::vector<double> scores;
  std::vector<int32_t> slots;

  int64_t size() const { return static_cast<int64_t>(slots.size()); }
  void resize(int64_t n) {
    slots.resize(static_cast<size_t>(n));
    scores.resize(static_cast<size_t>(n));
  }
};

/// The rows whose sigmoids are computed for one target (a row whose smooth rank is wanted): those with scores near the
/// target's. They are rows `first` to `last` - 1 in ascending order of score.
struct Window {
  int64_t first, last;

  int64_t size() const { return last - first; }
};

/// Arrays that a thread reuses.
template <class Real>
struct NearScratch {
  // negated score and row number of each row, for sorting by descending score
  std::vector<std::pair<Real, int32_t>> keys;
  // places: position of each row in descending order of score; order: row at each position
  std::vector<int32_t> places, order;
  Sorted all, targets;
  // for every row: its index among the targets, or -1 if its rank is not computed
  std::vector<int32_t> slot_of;
  std::vector<Window> windows;  // for every target by ascending score: the range of rows near it
  // for every pair of rows with near scores: the score difference, its sigma, and the derivative of sigma
  std::vector<double> apart, sigmas, kernels;
  // sums of derivatives, in the order of scores: `slopes` for rows; `among` and `sums` for targets
  std::vector<double> slopes, among, sums;

  auto in_use() {
    return Kept(keys, places, order, all.scores, all.slots, targets.scores, targets.slots, slot_of, windows, apart,
                sigmas, kernels, slopes, among, sums);
  }
};
template <class Real>
NearScratch<Real>& near_scratch() {
  static constinit thread_local OfThread<NearScratch<Real>> the_scratch;
  return the_scratch.get();
}

/// Finds the pairs of rows whose scores are near each other. `sources`: number of rows that each target (row whose rank
/// is computed) is compared with.
template <class Real>
class NearPairs {
 public:
  NearPairs(const Span<const Real>& scores, const Ragged& lists, const Chosen& targets, int64_t sources, int64_t list,
            Real steepness)
      : s_(scores.data + lists.begin(list)), n_(lists.size(list)), steepness_(steepness) {
    if (targets.size(list) * n_ < least_pairs) return;
    const ScoreSpan<Real> of(s_, n_, steepness_);
    // narrow is false, too, if the span is NaN, because both ends are infinite
    const bool narrow = of.span <= ratio_span<double>;
    wide_ = !narrow && !crowded(sources, of.span) && sort(targets, list);
  }

  bool wide() const { return wide_; }

  /// Finds the sources (rows to compare with) near each target (row whose rank is computed). Returns false if there are
  /// too many on average.
  bool find(const Sorted& sources) const {
    const double reach = this->reach();
    const int64_t most = most_near<Real> * my_.targets.size();
    my_.windows.resize(my_.targets.slots.size());
    int64_t first = 0, last = 0, total = 0;
    for (int64_t i = 0; i < my_.targets.size() && total <= most; ++i) {
      const double x = my_.targets.scores[i];
      // this loop ends at the target itself at the latest, because the target is one of the sources
      while (apart(x, sources.scores[first]) > reach) ++first;
      while (last < sources.size() && apart(sources.scores[last], x) <= reach) ++last;
      my_.windows[i] = {first, last};
      total += last - first;
    }
    return total <= most;
  }

  /// Calls visit(i, window, sigmas, kernels) for every target row i in ascending order of score. `window` is the range
  /// of source rows j with scores x_j near x_i; `sigmas` has sigma(x_j - x_i) and `kernels` its derivative for these.
  /// Sources after the window count as infinitely far above row i, sources before it as infinitely far below.
  void for_each(const Sorted& sources, const auto& visit) const {
    my_.apart.resize(together + sources.scores.size() + pair_padding);
    my_.sigmas.resize(my_.apart.size());
    my_.kernels.resize(my_.apart.size());
    const int64_t count = my_.targets.size();
    for (int64_t from = 0, to = 0; from < count; from = to) {
      double* pair = my_.apart.data();
      for (; to < count && pair - my_.apart.data() < together; ++to) {
        const Window& near = my_.windows[to];
        for (int64_t j = near.first; j < near.last; ++j) *pair++ = apart(sources.scores[j], my_.targets.scores[to]);
      }
      const int64_t pairs = pair - my_.apart.data();
      std::fill_n(pair, filled_up(pairs) - pairs, 0.0);
      pair_loops<double>().sigmoids(my_.apart.data(), filled_up(pairs), my_.sigmas.data(), my_.kernels.data());
      for (int64_t i = from, at = 0; i < to; at += my_.windows[i].size(), ++i) {
        visit(i, my_.windows[i], my_.sigmas.data() + at, my_.kernels.data() + at);
      }
    }
  }

  double apart(double a, double b) const { return a == b ? 0 : steepness_ * (a - b); }

 private:
  double reach() const { return BoxShape<Real>::cutoff + portable::log(static_cast<double>(n_)); }

  /// Returns true if there would be too many pairs of near scores even if scores were evenly spread, which gives the
  /// fewest such pairs. The caller then does not sort the rows.
  bool crowded(int64_t sources, double span) const {
    return 2 * reach() * static_cast<double>(sources) > static_cast<double>(most_near<Real>) * span;
  }

  bool sort(const Chosen& targets, int64_t list) {
    if (std::any_of(s_, s_ + n_, [](Real x) { return std::isnan(x); })) return false;
    const int64_t p = targets.size(list);
    place();
    my_.slot_of.assign(static_cast<size_t>(n_), -1);
    int32_t* const slot_of = my_.slot_of.data();
    for (int64_t slot = 0; slot < p; ++slot) slot_of[targets(list, slot)] = static_cast<int32_t>(slot);
    my_.all.resize(n_);
    my_.targets.resize(p);
    double *score = my_.all.scores.data(), *of_target = my_.targets.scores.data();
    int32_t *at = my_.all.slots.data(), *target = my_.targets.slots.data();
    for (int64_t i = 0; i < n_; ++i) {
      const int32_t row = my_.order[steepness_ < 0 ? i : n_ - 1 - i];
      *score++ = s_[row];
      *at++ = row;
      if (slot_of[row] < 0) continue;
      *of_target++ = s_[row];
      *target++ = slot_of[row];
    }
    return true;
  }

  /// Sorts rows by descending score; of equal scores the lower row number is first.
  void place() {
    my_.order.resize(static_cast<size_t>(n_));
    if constexpr (sizeof(Real) == 4) {
      if (n_ <= rank_loops().most) {
        my_.places.resize(static_cast<size_t>(n_));
        rank_loops().count(s_, n_, my_.places.data());
        for (int64_t i = 0; i < n_; ++i) my_.order[my_.places[i]] = static_cast<int32_t>(i);
        return;
      }
    }
    my_.keys.resize(static_cast<size_t>(n_));
    for (int64_t i = 0; i < n_; ++i) my_.keys[i] = {-s_[i], static_cast<int32_t>(i)};
    std::sort(my_.keys.begin(), my_.keys.end());
    for (int64_t i = 0; i < n_; ++i) my_.order[i] = my_.keys[i].second;
  }

  NearScratch<Real>& my_ = near_scratch<Real>();
  const Real* s_;
  int64_t n_;
  double steepness_;
  bool wide_ = false;
};

}  // namespace

template <class Real>
bool near_ranks(const SmoothRank<Real>& w, int64_t list) {
  const bool all = w.sources.rows == nullptr;
  if (!all && !(w.sources == w.targets)) return false;
  NearScratch<Real>& my = near_scratch<Real>();
  const auto kept = my.in_use();
  const NearPairs<Real> pairs(w.scores, w.lists, w.targets, w.sources.size(list), list, w.steepness);
  if (!pairs.wide() || !pairs.find(all ? my.all : my.targets)) return false;
  const auto over = [&](const Sorted& sources, const Span<Real>& ranks) {
    pairs.for_each(sources, [&](int64_t i, const Window& near, const double* sigma, const double*) {
      // The rank is 1 + the sum over all sources but the row itself = 1/2 + the sum over all sources, because the row
      // adds sigma(0) = 1/2.
      double rank = 0.5 + static_cast<double>(sources.size() - near.last);
      for (int64_t j = 0; j < near.size(); ++j) rank += sigma[j];
      ranks[w.targets.begin(list) + my.targets.slots[i]] = static_cast<Real>(rank);
    });
  };
  over(all ? my.all : my.targets, w.ranks);
  // Computes the ranks among the targets only. `find` cannot fail here: it succeeded for all source rows, and a target
  // has at most as many targets near it as sources.
  if (w.among.data != nullptr && pairs.find(my.targets)) over(my.targets, w.among);
  return true;
}

template <class Real>
bool near_vjp(const SmoothRankVjp<Real>& w, int64_t list) {
  NearScratch<Real>& my = near_scratch<Real>();
  const auto kept = my.in_use();
  const NearPairs<Real> pairs(w.scores, w.lists, w.targets, w.lists.size(list), list, w.steepness);
  if (!pairs.wide() || !pairs.find(my.all)) return false;
  my.sums.assign(my.targets.slots.size(), 0.0);
  const auto over = [&](const Sorted& sources, const Span<const Real>& weight, std::vector<double>& slopes) {
    slopes.assign(sources.scores.size(), 0.0);
    pairs.for_each(sources, [&](int64_t i, const Window& near, const double*, const double* k) {
      const double g = weight[w.targets.begin(list) + my.targets.slots[i]];
      double total = 0;
      for (int64_t j = 0; j < near.size(); ++j) {
        total += g * k[j];
        slopes[near.first + j] += g * k[j];
      }
      my.sums[i] -= total;
    });
  };
  over(my.all, w.g, my.slopes);
  if (w.h.data != nullptr && pairs.find(my.targets)) {
    over(my.targets, w.h, my.among);
    for (size_t i = 0; i < my.sums.size(); ++i) my.sums[i] += my.among[i];
  }
  Real* const out = w.out.data + w.lists.begin(list);
  for (int64_t i = 0, target = 0; i < my.all.size(); ++i) {
    const int32_t row = my.all.slots[i];
    const double own = my.slot_of[row] < 0 ? 0 : my.sums[target++];
    out[row] = static_cast<Real>(w.steepness * (my.slopes[i] + own));
  }
  return true;
}

#define MR_NEAR(Real)                                               \
  template bool near_ranks<Real>(const SmoothRank<Real>&, int64_t); \
  template bool near_vjp<Real>(const SmoothRankVjp<Real>&, int64_t);
MR_NEAR(float)
MR_NEAR(double)

}  // namespace mr::cpu
