// Estimates the time of a list's smooth ranks by sums over pairs of rows and by boxes (intervals of scores), in ns, to
// choose the faster one. The constants are fitted to times of tests/bench/smooth_bench.cpp within a factor of 2: for
// boxes, lists of 32 to 16384 rows on one core of an AMD EPYC (Zen 3, AVX2); for pairs, lists of 32 to 256 rows on an
// AMD EPYC (Zen 5, AVX2 and AVX-512).
#include <algorithm>
#include <cmath>

#include "kernels/core/logarithms.h"
#include "kernels/smooth/boxes/box_plan.h"
#include "kernels/smooth/boxes/box_ranks.h"
#include "kernels/smooth/exponential_pairs.h"

namespace mr::cpu {
namespace {

/// Times of sums over pairs of rows, in ns. `list`: per list. `row`: per row that is summed over. `pair`: per pair, if
/// its sigmoid is a ratio of stored exponentials. `exponential`: per pair, if its sigmoid needs an exponential.
struct PairCosts {
  double list, row, pair, exponential;
};

/// Times of sums by boxes (intervals of scores), in ns: per list, per row (if one box or several), per box, and per
/// pair of boxes.
struct BoxCosts {
  double list, row_of_one, row, box, boxes;
};

struct Costs {
  PairCosts pairs;
  BoxCosts boxes[2];  // times by boxes, [0]: of ranks alone; [1]: of ranks and ranks among relevant rows
};

template <class Real>
constexpr bool single = sizeof(Real) == 4;
template <class Real>
constexpr Costs forward_costs =
    single<Real> ? Costs{{50, 2.5, 0.029, 10}, {{270, 2.1, 4.9, 125, 3}, {280, 2.3, 4.9, 143, 7}}}
                 : Costs{{20, 2, 0.09, 10}, {{400, 3.7, 6.4, 142, 18}, {400, 4.5, 6.8, 196, 26}}};
template <class Real>
constexpr Costs backward_costs =
    single<Real> ? Costs{{70, 2.8, 0.088, 10}, {{310, 4.9, 8.1, 176, 5}, {410, 5.5, 9.1, 219, 8}}}
                 : Costs{{90, 1.8, 0.185, 10}, {{390, 8.8, 11.4, 250, 30}, {440, 10.2, 13, 229, 50}}};

/// The properties of a list on which the time depends.
template <class Real>
struct Request {
  const Real* scores;
  int64_t rows, targets, sources;
  bool among;
  double steepness;

  double pairs() const { return static_cast<double>(targets) * static_cast<double>(sources + (among ? targets : 0)); }
};

/// Returns the estimated time of summing a list over all pairs of rows. `span` is the difference of its highest and
/// lowest score, times the steepness.
template <class Real>
double by_pairs(const PairCosts& cost, const PairCosts& in_double, const Request<Real>& r, double span) {
  if (span > ratio_span<double>) return cost.exponential * r.pairs();
  const PairCosts& of = span <= ratio_span<Real> ? cost : in_double;
  return of.list + of.row * static_cast<double>(r.sources + (r.among ? r.targets : 0)) + of.pair * r.pairs();
}

/// Returns the estimated time of summing a list by boxes, if its scores span `bins` intervals, `boxes` of which are
/// not empty. The wider the scores spread, the fewer of the boxes are near a given one.
template <class Real>
double by_boxes(const BoxCosts& cost, const Request<Real>& r, double boxes, double bins) {
  const auto n = static_cast<double>(r.rows);
  const double within_reach = 2 * (BoxShape<Real>::cutoff + portable::log(n)) / BoxShape<Real>::width + 3,
               near = std::min(boxes, 1 + within_reach * boxes / bins);
  return cost.list + (boxes == 1 ? cost.row_of_one : cost.row) * n + boxes * (cost.box + near * cost.boxes);
}

template <class Real>
bool prefer(const Costs& costs, const PairCosts& in_double, const Request<Real>& r) {
  const BoxCosts& cost = costs.boxes[r.among ? 1 : 0];
  if (r.pairs() * costs.pairs.exponential <= by_boxes(cost, r, 1, 1)) return false;
  const BoxSpread spread = box_spread(r.scores, r.rows, r.steepness);
  if (!spread.fits) return false;
  const double bins = spread.last - spread.first + 1;
  const double span = spread.one_box ? 0 : spread.counted ? bins * BoxShape<Real>::width : HUGE_VAL;
  const double pairs = by_pairs(costs.pairs, in_double, r, span);
  const double most = spread.counted ? std::min(static_cast<double>(r.rows), bins) : static_cast<double>(r.rows);
  // number of intervals that the scores span; if boxes are not counted, the number of rows
  const double across = std::max(bins, most);
  if (by_boxes(cost, r, most, across) <= pairs) return true;
  if (by_boxes(cost, r, spread.one_box ? 1 : 2, across) > pairs) return false;
  const auto boxes = static_cast<double>(count_boxes(r.scores, r.rows, r.steepness, spread));
  return by_boxes(cost, r, boxes, across) <= pairs;
}

template <class Real>
bool fits(const Request<Real>& r) {
  return box_spread(r.scores, r.rows, r.steepness).fits;
}

/// Returns true if boxes can compute this list. The rows ranked (targets) and the rows summed over (sources) must be
/// the same rows, or one of the two must be all rows of the list.
template <class Real>
bool covered(const SmoothRank<Real>& w) {
  if (w.sources.rows == nullptr) return true;
  return w.among.data == nullptr && (w.targets.rows == nullptr || w.targets == w.sources);
}

template <class Real>
Request<Real> request(const SmoothRank<Real>& w, int64_t list) {
  return {w.scores.data + w.lists.begin(list),
          w.lists.size(list),
          w.targets.size(list),
          w.sources.size(list),
          w.among.data != nullptr,
          w.steepness};
}

template <class Real>
Request<Real> request(const SmoothRankVjp<Real>& w, int64_t list) {
  return {w.scores.data + w.lists.begin(list),
          w.lists.size(list),
          w.targets.size(list),
          w.lists.size(list),
          w.h.data != nullptr,
          w.steepness};
}

}  // namespace

template <class Real>
bool box_fits(const SmoothRank<Real>& w, int64_t list) {
  return w.targets.size(list) > 0 && w.sources.size(list) > 0 && covered(w) && fits(request(w, list));
}

template <class Real>
bool box_fits(const SmoothRankVjp<Real>& w, int64_t list) {
  return w.targets.size(list) > 0 && fits(request(w, list));
}

template <class Real>
bool prefer_boxes(const SmoothRank<Real>& w, int64_t list) {
  return w.targets.size(list) > 0 && w.sources.size(list) > 0 && covered(w) &&
         prefer(forward_costs<Real>, forward_costs<double>.pairs, request(w, list));
}

template <class Real>
bool prefer_boxes(const SmoothRankVjp<Real>& w, int64_t list) {
  return w.targets.size(list) > 0 && prefer(backward_costs<Real>, backward_costs<double>.pairs, request(w, list));
}

template bool box_fits<float>(const SmoothRank<float>&, int64_t);
template bool box_fits<double>(const SmoothRank<double>&, int64_t);
template bool box_fits<float>(const SmoothRankVjp<float>&, int64_t);
template bool box_fits<double>(const SmoothRankVjp<double>&, int64_t);
template bool prefer_boxes<float>(const SmoothRank<float>&, int64_t);
template bool prefer_boxes<double>(const SmoothRank<double>&, int64_t);
template bool prefer_boxes<float>(const SmoothRankVjp<float>&, int64_t);
template bool prefer_boxes<double>(const SmoothRankVjp<double>&, int64_t);

}  // namespace mr::cpu
