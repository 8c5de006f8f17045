// Smooth ranks and their derivatives on the GPU by boxes (kernels/smooth/boxes/box.h), for all long lists of a batch at
// once. Each list has a range of bins, each one box wide, and rows are sorted by bin. The sums of a bin are computed by
// a warp, or by several blocks if it has many rows. Then every bin adds the translated sums of the bins within reach.
// Launch sizes depend only on numbers that the host knows; the device finds out which lists take part.
#pragma once

#include <bit>

#include "kernels/device/scratch.h"
#include "kernels/device/sort.h"
#include "kernels/smooth/boxes/bins.cuh"
#include "kernels/smooth/boxes/box_table.h"

namespace mr::cuda {

/// Lists with fewer pairs than this do not use boxes. A large GPU computes about so many pairs in the time of some tens
/// of launches. The number is an estimate.
constexpr int64_t box_pairs = int64_t{1} << 28;

/// Bins with at least this many rows are shared by several blocks.
constexpr int64_t crowd = 1024;

/// Writes 1 for every position (rows sorted by bin) whose row has a weight other than 0, else 0, and one entry more,
/// for prefix sums. Such rows in a bin far above a row add exactly 1 to its sum, because sigma is 1 there, so they are
/// only counted.
template <class Work>
struct CountWeights {
  Work work;
  Bins<typename Work::Number> bins;
  int weight;
  int64_t positions;
  int64_t* out;

  MR_HD void operator()(int64_t position) const {
    const bool there = position < positions && bins.keys[position] != static_cast<uint64_t>(bins.none);
    out[position] = there && work.weight(weight, bins.rows[position], bins.slots[bins.rows[position]]) != 0 ? 1 : 0;
  }
};

/// Calls term(m, T_m(u)) for m < terms, with T_m the Chebyshev polynomials.
template <int terms, class Real, class F>
MR_HD void chebyshev(Real u, const F& term) {
  Real before = 1, now = u;
  term(0, before);
  for (int m = 1; m < terms; ++m) {
    term(m, now);
    const Real next = 2 * u * now - before;
    before = now;
    now = next;
  }
}

template <class Real>
constexpr int box_terms = BoxShape<Real>::terms;
/// Stride of arrays of moments and expansions: entry `term` for a bin and a weight is at [(bin * weights + weight) *
/// box_padded + term].
constexpr int box_padded = BoxShape<float>::padded;

/// Computes sums[weight * box_padded + m] = sum_i w_i T_m(u_i) over the positions first + lane, first + lane + lanes,
/// ... of a bin before `last`, reduced over each warp. Weights are processed one after the other to keep sums in
/// registers.
template <class Work>
__device__ void add_moments(const Work& work, const Bins<typename Work::Number>& bins, int64_t first, int64_t last,
                            int lane, int lanes, double* sums) {
  using Real = typename Work::Number;
  const int64_t list = list_of(bins.lists, bins.rows[first]);
  const BinSpread spread = bins.spreads[list];
  for (int w = 0; w < Work::weights; ++w) {
    Real total[box_terms<Real>] = {};
    for (int64_t position = first + lane; position < last; position += lanes) {
      const int64_t row = bins.rows[position];
      const Real weight = work.weight(w, row, bins.slots[row]);
      const BinPosition<Real> at(spread, work.scores()[row], work.steepness());
      chebyshev<box_terms<Real>>(at.u, [&](int m, Real t) { total[m] += weight * t; });
    }
    for (int m = 0; m < box_terms<Real>; ++m) {
      double sum = total[m];
      for (int step = warp / 2; step > 0; step /= 2) sum += __shfl_xor_sync(all_lanes, sum, step);
      if (static_cast<int>(threadIdx.x) % warp == m) sums[w * box_padded + m] = sum;
    }
  }
}

/// Computes the moments of all bins. The first `crowd_blocks` blocks of threads compute partial sums of the bins with
/// at least `crowd` rows, in several parts per bin. The other blocks compute the remaining bins, one warp per bin.
template <class Work>
__global__ void __launch_bounds__(pair_lanes, 5)
    find_moments(int64_t crowd_blocks, int64_t count, const Bins<typename Work::Number> bins, double* parts,
                 typename Work::Number* q, const Work work) {
  constexpr int warps = pair_lanes / warp, size = Work::weights * box_padded;
  __shared__ double sums[warps][size];
  const int lane = static_cast<int>(threadIdx.x), mine = lane / warp;
  const int64_t block = blockIdx.x;
  if (block < crowd_blocks) {
    const int64_t bin = static_cast<int64_t>(bins.keys[block * crowd]);
    if (bin == bins.none || bins.size(bin) < crowd) return;
    const int64_t start = bins.starts[bin], n = bins.size(bin), part = block - (start + crowd - 1) / crowd;
    const int64_t all = n / crowd;
    if (part >= all) return;
    add_moments(work, bins, start + n * part / all, start + n * (part + 1) / all, lane, pair_lanes, sums[mine]);
    __syncthreads();
    for (int i = lane; i < size; i += pair_lanes) {
      double sum = 0;
      for (int other = 0; i % box_padded < box_terms<typename Work::Number> && other < warps; ++other) {
        sum += sums[other][i];
      }
      parts[block * size + i] = sum;
    }
    return;
  }
  for (int64_t bin = (block - crowd_blocks) * warps + mine; bin < count; bin += (gridDim.x - crowd_blocks) * warps) {
    const int64_t n = bins.size(bin);
    if (n == 0 || n >= crowd) continue;
    add_moments(work, bins, bins.starts[bin], bins.starts[bin + 1], lane % warp, warp, sums[mine]);
    __syncwarp();
    for (int i = lane % warp; i < size; i += warp) {
      const bool term = i % box_padded < box_terms<typename Work::Number>;
      q[bin * size + i] = static_cast<typename Work::Number>(term ? sums[mine][i] : 0);
    }
    __syncwarp();
  }
}

/// Adds up the partial sums of each bin that several blocks of threads shared, in the order of the blocks.
template <class Work>
struct AddParts {
  Bins<typename Work::Number> bins;
  const double* parts;
  typename Work::Number* q;

  MR_HD void operator()(int64_t at) const {
    constexpr int size = Work::weights * box_padded;
    const int64_t block = at / size, i = at % size, bin = static_cast<int64_t>(bins.keys[block * crowd]);
    if (bin == bins.none || bins.size(bin) < crowd) return;
    // The element of a bin's first block adds up the partial sums of all its blocks; the elements of other blocks
    // return here.
    if (block != (bins.starts[bin] + crowd - 1) / crowd) return;
    double sum = 0;
    for (int64_t part = block; part < block + bins.size(bin) / crowd; ++part) sum += parts[part * size + i];
    q[bin * size + i] = static_cast<typename Work::Number>(sum);
  }
};

/// Computes the Chebyshev expansion of every bin from the moments of the bins within reach, one warp per bin. Lane n
/// of a half-warp computes the coefficient of T_n, and the two halves of the warp take turns with the bins. For the
/// kernel sigma, `before` has the prefix sums of CountWeights for each weight, which give the number of rows in bins
/// far above; for its derivative `before` is null.
template <class Work>
__global__ void __launch_bounds__(pair_lanes)
    translate_bins(int64_t count, const Bins<typename Work::Number> bins, const typename Work::Number* table,
                   const int64_t* before, int64_t positions, const typename Work::Number* q,
                   typename Work::Number* expansion) {
  using Real = typename Work::Number;
  using Shape = BoxShape<Real>;
  constexpr int warps = pair_lanes / warp, size = Work::weights * box_padded;
  const int lane = static_cast<int>(threadIdx.x) % warp, n = lane % box_padded, half = lane / box_padded;
  for (int64_t bin = static_cast<int64_t>(blockIdx.x) * warps + threadIdx.x / warp; bin < count;
       bin += static_cast<int64_t>(gridDim.x) * warps) {
    if (bins.size(bin) == 0) continue;
    const int64_t list = bins.list_in(bin), first = first_bin(bins.lists, list), end = first + bins.spreads[list].bins;
    const int64_t reach = Shape::reach(bins.lists.size(list));
    const int64_t low = bin - reach > first ? bin - reach : first, high = bin + reach + 1 < end ? bin + reach + 1 : end;
    Real total[Work::weights] = {};
    for (int64_t source = low + half; source < high; source += 2) {
      if (bins.size(source) == 0) continue;
      const Real* const by = table + (source - bin) * Shape::terms * Shape::padded + n;
      for (int m = 0; m < Shape::terms; ++m) {
        for (int w = 0; w < Work::weights; ++w) {
          total[w] += by[m * Shape::padded] * q[source * size + w * box_padded + m];
        }
      }
    }
    for (int w = 0; w < Work::weights; ++w) {
      Real sum = total[w] + __shfl_xor_sync(all_lanes, total[w], box_padded);
      if (before != nullptr && n == 0) {
        const int64_t* const counts = before + w * (positions + 1);
        sum += static_cast<Real>(counts[bins.starts[end]] - counts[bins.starts[high]]);
      }
      if (half == 0) expansion[bin * size + w * box_padded + n] = sum;
    }
  }
}

/// Evaluates, for every row in the order of bins, the expansion of the row's bin at its score, and writes the results.
template <class Work>
struct EvaluateBins {
  Work work;
  Bins<typename Work::Number> bins;
  const typename Work::Number* expansion;

  MR_HD void operator()(int64_t position) const {
    using Real = typename Work::Number;
    const auto bin = static_cast<int64_t>(bins.keys[position]);
    if (bin == bins.none) return;
    const int64_t row = bins.rows[position], list = list_of(bins.lists, row);
    const BinPosition<Real> at(bins.spreads[list], work.scores()[row], work.steepness());
    const Real* const from = expansion + bin * Work::weights * box_padded;
    Real sums[Work::weights] = {};
    chebyshev<box_terms<Real>>(at.u, [&](int m, Real t) {
      for (int w = 0; w < Work::weights; ++w) sums[w] += from[w * box_padded + m] * t;
    });
    work.write(list, row, bins.slots[row], sums);
  }
};

/// Returns the table of Chebyshev coefficients in device memory, which is copied there at the first call. The pointer
/// is to block 0 (a box and itself), as in kernels/smooth/boxes/box_table.h.
template <class Real>
const Real* device_table(typename BoxTable<Real>::Kernel kernel) {
  using Table = BoxTable<Real>;
  constexpr int64_t before = BoxShape<Real>::max_reach * Table::block, size = 2 * before + Table::block;
  constexpr int64_t bytes = size * static_cast<int64_t>(sizeof(Real));
  return static_cast<const Real*>(gpu().constant(Table::of(kernel) - before, bytes)) + before;
}

/// Computes smooth ranks or their derivatives by boxes, for those lists of a batch that have at least `least_pairs`
/// pairs, and marks these lists in `done`. `sigma` selects the kernel: true for sigma (ranks), false for its
/// derivative.
template <class Work>
void by_boxes(int64_t count, const Work& work, bool sigma, int64_t least_pairs, uint8_t* done) {
  using Real = typename Work::Number;
  using Table = BoxTable<Real>;
  const int64_t n = work.rows(), none = n / rows_per_bin + count + 1, blocks = (n + crowd - 1) / crowd;
  constexpr int64_t size = Work::weights * box_padded;
  const int64_t warps = pair_lanes / warp, most = static_cast<int64_t>(gpu().multiprocessors()) * 16;
  const int64_t bin_blocks = std::min((none + warps - 1) / warps, most);
  const Scratch<BinSpread> spreads(count);
  const Scratch<uint64_t> keys(n);
  const Scratch<int64_t> rows(n), starts(none + 1), before(sigma ? Work::weights * (n + 1) : 0);
  const Scratch<int32_t> slots(n);
  const Scratch<double> parts(blocks * size);
  const Scratch<Real> q(none * size), expansion(none * size);
  const Bins<Real> bins{work.lists, spreads.data(), keys.data(), rows.data(), slots.data(), starts.data(), none};
  Backend::lists(count, FindSpreads<Work>{work, least_pairs, spreads.data(), done});
  Backend::elements(n, FillKeys<Work>{work, bins});
  sort_pairs(n, keys.data(), rows.data(), std::bit_width(static_cast<uint64_t>(none)));
  Backend::elements(none + 1, FillStarts<Real>{bins, n});
  for (int w = 0; sigma && w < Work::weights; ++w) {
    int64_t* const counts = before.data() + w * (n + 1);
    Backend::elements(n + 1, CountWeights<Work>{work, bins, w, n, counts});
    exclusive_scan(n + 1, counts, counts);
  }
  launch(&find_moments<Work>, blocks + bin_blocks, pair_lanes, 0, blocks, none, bins, parts.data(), q.data(), work);
  Backend::elements(blocks * size, AddParts<Work>{bins, parts.data(), q.data()});
  launch(&translate_bins<Work>, bin_blocks, pair_lanes, 0, none, bins,
         device_table<Real>(sigma ? Table::sigma : Table::derivative), before.data(), n, q.data(), expansion.data());
  Backend::elements(n, EvaluateBins<Work>{work, bins, expansion.data()});
}

}  // namespace mr::cuda
