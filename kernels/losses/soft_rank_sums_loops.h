// The loops of soft_rank_sums.h over vectors of MR_VECTOR_BYTES, inside namespace MR_SIMD; included by
// soft_rank_sums_*.cpp only. Each lane is a row. Sums over ranks or terms run in
// the order of soft_rank.h.
#include "kernels/core/functions.h"
#include "kernels/core/simd/lanes.h"
#include "kernels/losses/soft_rank_sums.h"

namespace mr::cpu::MR_SIMD {
namespace {

using Numbers = Lanes<double>;
using Row = Numbers::Vector;
typedef int64_t Flags __attribute__((vector_size(MR_VECTOR_BYTES)));  // NOLINT: the attribute needs typedef

inline bool any(Flags flags) {
  int64_t found = 0;
  for (int64_t i = 0; i < Numbers::count; ++i) found |= flags[i];
  return found != 0;
}

/// Computes the series of the error function for |z| <= 8.5. Each lane ends with its own last term.
template <int vectors>
void error_series(const double* z, double* sums) {
  // number of terms of the series that are added between two checks whether any lane needs more; finished lanes do not
  // change
  constexpr int unseen = 4;
  Row squares[vectors], term[vectors], sum[vectors];
  for (int v = 0; v < vectors; ++v) {
    const Row at = Numbers::load(z + v * Numbers::count);
    const Row inside = ((at > 8.5) | (at < -8.5)) ? Row{} : at;
    squares[v] = inside * inside;
    term[v] = sum[v] = inside;
  }
  for (int k = 3; k < 400;) {
    Flags open = {};
    for (int turn = 0; turn < unseen && k < 400; ++turn, k += 2) {
      for (int v = 0; v < vectors; ++v) {
        const Row size = term[v] < 0 ? -term[v] : term[v], total = sum[v] < 0 ? -sum[v] : sum[v];
        const Flags goes_on = size > 1e-17 * total;
        term[v] = goes_on ? term[v] * (squares[v] / k) : term[v];
        sum[v] = goes_on ? sum[v] + term[v] : sum[v];
        open |= goes_on;
      }
    }
    if (!any(open)) break;
  }
  for (int v = 0; v < vectors; ++v) Numbers::store(sums + v * Numbers::count, sum[v]);
}

inline void normal(const double* z, int64_t n, double* below, double* density) {
  constexpr int64_t step = SoftRankLoops::padding;
  for (int64_t i = 0; i < n; i += step) error_series<step / Numbers::count>(z + i, below + i);
  for (int64_t i = 0; i < n; ++i) {
    const double e = portable::exp(-0.5 * z[i] * z[i]), p = 0.5 + below[i] * e * 0.39894228040143267794;
    const double inside = p < 0 ? 0 : p > 1 ? 1 : p;
    below[i] = z[i] > 8.5 ? 1 : z[i] < -8.5 ? 0 : inside;
    density[i] = e * 0.39894228040143267794;
  }
}

inline void one_more(double* ranks, int64_t rows, double up) {
  constexpr int64_t step = Numbers::count;
  const double stays = 1 - up;
  // Goes through the ranks from the end, so that each probability is read before it is overwritten.
  for (int64_t r = rows / step * step; r >= 0; r -= step)
    Numbers::store(ranks + r, Numbers::load(ranks + r) * stays + Numbers::load(ranks + r - 1) * up);
}

/// Removes a row from the distribution of another row's rank: without = (rank - passed * previous without) / kept,
/// rank after rank. The loop starts at the end at which no digits cancel: `by` is 1 for ascending ranks, -1 for
/// descending ones.
template <int vectors>
void worth_of(const double* ranks, const double* steps, int64_t n, int64_t by, const double* passed, const double* kept,
              double* changes) {
  Row without[vectors] = {}, sum[vectors] = {}, pass[vectors], keep[vectors];
  for (int v = 0; v < vectors; ++v) {
    pass[v] = Numbers::load(passed + v * Numbers::count);
    keep[v] = Numbers::load(kept + v * Numbers::count);
  }
  for (int64_t r = 0; r < n; ++r) {
    for (int v = 0; v < vectors; ++v) {
      without[v] = (ranks[by * r] - pass[v] * without[v]) / keep[v];
      sum[v] += without[v] * steps[by * r];
    }
  }
  for (int v = 0; v < vectors; ++v) Numbers::store(changes + v * Numbers::count, sum[v]);
}

inline void worth(const double* ranks, const double* steps, int64_t n, const double* up, int64_t count,
                  bool likely_below, double* changes) {
  constexpr int64_t block = SoftRankLoops::block, vectors = smaller(4, block / Numbers::count),
                    together = vectors * Numbers::count;
  for (int64_t i = 0; i < count; i += block) {
    double down[block];
    for (int64_t k = 0; k < block; ++k) down[k] = 1 - up[i + k];
    for (int64_t k = 0; k < block && i + k < count; k += together) {
      if (likely_below)
        worth_of<vectors>(ranks, steps, n - 1, 1, up + i + k, down + k, changes + i + k);
      else
        worth_of<vectors>(ranks + n - 1, steps + n - 2, n - 1, -1, down + k, up + i + k, changes + i + k);
    }
  }
}

}  // namespace
}  // namespace mr::cpu::MR_SIMD

namespace mr::cpu {

template <>
SoftRankLoops loops_of<SoftRankLoops, Simd::MR_SIMD>() {
  return {.normal = &MR_SIMD::normal, .one_more = &MR_SIMD::one_more, .worth = &MR_SIMD::worth};
}

}  // namespace mr::cpu
