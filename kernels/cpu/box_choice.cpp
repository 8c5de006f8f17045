// What a list costs by pairs and by boxes, in ns, and so which of the two is taken. The constants are those of one core
// of a Zen 3 with AVX2 at 2.45 GHz, from tests/bench/smooth_bench.cpp; other processors scale both sides about alike.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/box_plan.h"
#include "kernels/cpu/box_ranks.h"
#include "kernels/cpu/pairs.h"

namespace mr::cpu {
namespace {

/// Of one pass: per pair with ratios, per pair with exponentials; per list, per row of one box and of several, and per
/// pair of boxes.
struct Costs {
  double pair, exponential, list, row_of_one, row, boxes;
};

/// What a list asks for.
template <class Real>
struct Request {
  const Real* scores;
  int64_t rows;
  double pairs, gain;
};

template <class Real>
bool prefer(const Costs& cost, const Request<Real>& r) {
  const auto n = static_cast<double>(r.rows);
  if (r.pairs * cost.exponential <= cost.list + cost.row_of_one * n) return false;
  const BoxSpread spread = box_spread(r.scores, r.rows, r.gain);
  if (!spread.fits) return false;
  const double span = (spread.last - spread.first + 1) * BoxShape<Real>::width;
  const bool ratios = spread.one_box || (spread.counted && span <= ratio_span<Real>);
  const double direct = r.pairs * (ratios ? cost.pair : cost.exponential);
  const double most = spread.counted ? std::min(n, spread.last - spread.first + 1) : n,
               within_reach = 2 * (BoxShape<Real>::cutoff + std::log(n)) / BoxShape<Real>::width + 3;
  const auto by_boxes = [&](double boxes) {
    if (boxes == 1) return cost.list + cost.row_of_one * n + cost.boxes;
    return cost.list + cost.row * n + cost.boxes * boxes * std::min(boxes, within_reach);
  };
  if (by_boxes(most) <= direct) return true;
  if (by_boxes(1) > direct) return false;
  return by_boxes(static_cast<double>(count_boxes(r.scores, r.rows, r.gain, spread))) <= direct;
}

template <class Real>
constexpr Costs forward_costs = sizeof(Real) == 4 ? Costs{0.15, 8, 300, 1, 4, 10} : Costs{0.5, 8, 400, 2, 6, 25};
template <class Real>
constexpr Costs backward_costs = sizeof(Real) == 4 ? Costs{0.5, 8, 500, 4, 8, 25} : Costs{1, 8, 800, 8, 14, 60};

template <class Real>
bool fits(const Request<Real>& r) {
  return box_spread(r.scores, r.rows, r.gain).fits;
}

/// False where neither sources nor targets are every row, and they differ.
template <class Real>
bool covered(const SmoothRank<Real>& w) {
  if (w.sources.rows == nullptr) return true;
  return w.among.data == nullptr && (w.targets.rows == nullptr || (w.targets.rows == w.sources.rows &&
                                                                   w.targets.lists.offsets == w.sources.lists.offsets));
}

template <class Real>
Request<Real> request(const SmoothRank<Real>& w, int64_t list) {
  const auto targets = static_cast<double>(w.targets.size(list)), sources = static_cast<double>(w.sources.size(list));
  return {w.scores.data + w.lists.begin(list), w.lists.size(list), targets * (sources + (w.among.data ? targets : 0)),
          w.gain};
}

template <class Real>
Request<Real> request(const SmoothRankVjp<Real>& w, int64_t list) {
  const auto targets = static_cast<double>(w.targets.size(list)), rows = static_cast<double>(w.lists.size(list));
  return {w.scores.data + w.lists.begin(list), w.lists.size(list), targets * (rows + (w.h.data ? targets : 0)), w.gain};
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
         prefer(forward_costs<Real>, request(w, list));
}

template <class Real>
bool prefer_boxes(const SmoothRankVjp<Real>& w, int64_t list) {
  return w.targets.size(list) > 0 && prefer(backward_costs<Real>, request(w, list));
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
