// Smooth ranks on the GPU: for each target (a row that is ranked), sums over its sources (the rows summed over).
// Sources are loaded into shared memory in tiles. With e = exp(score - centre) of each row, the sigmoid of a score
// difference and its derivative are ratios (kernels/smooth/pair_ratio.h). Two sources share one division.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/view.h"
#include "kernels/smooth/pair_lanes.cuh"
#include "kernels/smooth/pair_ratio.h"
#include "kernels/smooth/smooth_rank.h"

namespace mr::cuda {

constexpr int sources_per_lane = 8;  // number of source rows per GPU thread that are in shared memory at a time

/// A pair of numbers, which belong to two neighbouring source rows. One memory access loads both.
template <class Real>
struct alignas(2 * sizeof(Real)) Two {
  Real a, b;
};

/// The shared memory of a group of GPU threads. of[0] holds the exponentials (or scores) of a tile of source rows;
/// of[1] and of[2] hold their weights.
template <class Real, int Weights>
struct SourceTile {
  Two<Real>* of[1 + Weights];

  template <int Lanes>
  __device__ SourceTile(const PairLanes<Lanes>& lanes, Two<Real>* memory) {
    constexpr int apart = pair_lanes * sources_per_lane / 2;
    for (int i = 0; i <= Weights; ++i) of[i] = memory + i * apart + lanes.group() * Lanes * sources_per_lane / 2;
  }
  static constexpr size_t bytes = (1 + Weights) * pair_lanes * sources_per_lane * sizeof(Real);
};

/// Some rows of a list as sources (rows summed over): their scores, and arrays w and h with a weight for each source.
/// If w is null, its weights are 1.
template <class Real>
struct PairSources {
  const Real* scores;
  Chosen rows;
  int64_t list;
  const Real *w = nullptr, *h = nullptr;

  __device__ Real score(int64_t slot) const { return scores[rows(list, slot)]; }
  __device__ Real weight(int which, int64_t slot) const {
    return which == 2 ? h[rows.begin(list) + slot] : w == nullptr ? Real(1) : w[rows.begin(list) + slot];
  }
};

/// The target (row ranked) of a GPU thread. If sources have two weights w and h, the term of a source uses w + h - v.
/// `there` is false for threads without a target.
template <class Real>
struct PairTarget {
  Real score, v;
  bool there;
};

/// Computes exp(steepness (s - centre)) for scores s of a range. `valid` is false if the range is so wide that ratios
/// of exponentials could overflow; sigmoids are then computed pair by pair.
template <class Real>
struct RatioScale {
  double centre, steepness;
  bool valid;

  __device__ RatioScale(const ScoreRange& range, double a)
      : centre(0.5 * (range.low + range.high)),
        steepness(a),
        valid(std::fabs(a) * (range.high - range.low) <= ratio_span<Real>) {}

  __device__ Real operator()(Real score) const {
    const double x = steepness * (static_cast<double>(score) - centre);
    if constexpr (sizeof(Real) == 8) {
      return std::exp(x);
    } else {
      // Computes e^x as 2^(power - whole) 2^whole with power = x / ln 2 and `whole` its nearest integer. A float holds
      // the small power - whole more accurately than `power`.
      const double power = x * 1.4426950408889634, whole = std::rint(power);
      return std::exp2(static_cast<float>(power - whole)) * std::exp2(static_cast<float>(whole));
    }
  }
};

/// The term of a source row j in the smooth rank of target row i: sigma(x_j - x_i), where x is steepness times score.
template <class Real>
struct RankTerms {
  static constexpr int weights = 0;

  static __device__ Real two(Real t, Real, const Two<Real>* e) {
    const Real sum = e[0].a + e[0].b, product = e[0].a * e[0].b;
    return (t * sum + 2 * product) * reciprocal(t * (t + sum) + product);
  }
  static __device__ Real one(Real difference, Real) { return sigmoid(difference); }
};

/// The term of a source row j in the derivative of target row i: w_j k(x_j - x_i) with one weight per source, or (w_j +
/// h_j - v_i) k(x_j - x_i) with two. k is the derivative of the sigmoid, x steepness times score.
template <class Real, int Weights>
struct KernelTerms {
  static constexpr int weights = Weights;

  static __device__ Real two(Real t, Real v, const Two<Real>* e) {
    const Real ta = t + e[0].a, tb = t + e[0].b, inverse = reciprocal(ta * tb), a = inverse * tb, b = inverse * ta;
    Real wa = e[1].a, wb = e[1].b;
    if constexpr (Weights == 2) {
      wa += e[2].a - v;
      wb += e[2].b - v;
    }
    return wa * ((t * a) * (e[0].a * a)) + wb * ((t * b) * (e[0].b * b));
  }
  static __device__ Real one(Real difference, Real weight) { return weight * logistic_kernel(difference); }
};

/// Sums terms over source rows first .. last - 1 for the target row of each thread. If `together` threads share a
/// target, they divide its sources, and all of them get its sum.
template <class Terms, class Real, int Lanes>
class PairSum {
 public:
  __device__ PairSum(const PairLanes<Lanes>& lanes, Two<Real>* memory, const PairSources<Real>& sources, Real steepness)
      : lanes_(lanes), tile_(lanes, memory), sources_(sources), steepness_(steepness) {}

  __device__ double operator()(int64_t first, int64_t last, const PairTarget<Real>& target, int together) const {
    const RatioScale<Real> scale(range(first, last, target), steepness_);
    const Real t = scale.valid ? scale(target.score) : target.score;
    double total = 0;
    for (int64_t from = first; from < last; from += most) {
      const int n = static_cast<int>(last - from < most ? last - from : most);
      fill(from, n, scale);
      lanes_.sync();
      const int strand = lanes_.lane() % together;
      total += scale.valid ? by_ratios(n, t, target.v, strand, together) : exactly(n, target, strand, together);
      lanes_.sync();
    }
    return lanes_.sum(total, together);
  }

 private:
  static constexpr int most = Lanes * sources_per_lane, flush = 32;

  __device__ ScoreRange range(int64_t first, int64_t last, const PairTarget<Real>& target) const {
    ScoreRange own{HUGE_VAL, -HUGE_VAL};
    for (int64_t slot = first + lanes_.lane(); slot < last; slot += Lanes) own.add(sources_.score(slot));
    if (target.there) own.add(target.score);
    return lanes_.covered(own);
  }

  /// Loads n source rows into shared memory. If n is odd, one more source with exponential 0 is added, which adds
  /// nothing to sums.
  __device__ void fill(int64_t from, int n, const RatioScale<Real>& scale) const {
    for (int i = lanes_.lane(); i < (n + 1) / 2; i += Lanes) {
      const bool both = 2 * i + 1 < n;
      const Real a = sources_.score(from + 2 * i), b = both ? sources_.score(from + 2 * i + 1) : a;
      tile_.of[0][i] = {scale.valid ? scale(a) : a, scale.valid ? (both ? scale(b) : 0) : b};
      for (int w = 1; w <= Terms::weights; ++w) {
        tile_.of[w][i] = {sources_.weight(w, from + 2 * i), both ? sources_.weight(w, from + 2 * i + 1) : 0};
      }
    }
  }

  __device__ double by_ratios(int n, Real t, Real v, int strand, int together) const {
    double total = 0;
    const int pairs = (n + 1) / 2;
    for (int i = strand; i < pairs;) {
      Real part = 0;  // sum over few sources, for which float is accurate enough
      const int stop = i + flush * together < pairs ? i + flush * together : pairs;
      for (; i < stop; i += together) {
        Two<Real> e[1 + Terms::weights];
        for (int w = 0; w <= Terms::weights; ++w) e[w] = tile_.of[w][i];
        part += Terms::two(t, v, e);
      }
      total += part;
    }
    return total;
  }

  __device__ double exactly(int n, const PairTarget<Real>& target, int strand, int together) const {
    double total = 0;
    for (int j = strand; j < n; j += together) {
      const auto entry = [&](int w) { return j % 2 == 0 ? tile_.of[w][j / 2].a : tile_.of[w][j / 2].b; };
      Real weight = 1;
      if constexpr (Terms::weights > 0) weight = entry(1);
      if constexpr (Terms::weights > 1) weight += entry(2) - target.v;
      total += Terms::one(score_difference(entry(0), target.score, steepness_), weight);
    }
    return total;
  }

  const PairLanes<Lanes>& lanes_;
  SourceTile<Real, Terms::weights> tile_;
  PairSources<Real> sources_;
  Real steepness_;
};

}  // namespace mr::cuda
