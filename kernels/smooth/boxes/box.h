// Inner loops for sums of sigma(x_j - x_i) and of its derivative k(x_j - x_i) over some rows j of a list (sources), for
// its rows i (targets), in time near linear in the number of rows. A box is an interval of scores. The code is in
// box_loops.h, compiled once per instruction set.
#pragma once

#include <cstdint>

#include "kernels/core/simd.h"
#include "kernels/smooth/boxes/box_table.h"

namespace mr::cpu {

/// largest number of weights of rows for which one call sums over pairs of boxes
constexpr int box_weights = 4;

/// Divides the axis of scores into boxes (intervals of one width): x = steepness (s - shift) lies in box round(x /
/// width) - first, of 0 .. last.
struct BoxGrid {
  double steepness, shift, first, last;
};

/// Input and output of `translate`, which sums the contributions of all near boxes to each box of scores. For every
/// box: its number, the range of near boxes, its moments q (what its rows contribute), and its expansion, the result
/// (both `weights` x padded entries). The block of `table` for a source box that is `apart` boxes above the target box
/// has at entry m * padded + n the coefficient of T_m(source) T_n(target). Blocks are terms * padded entries long.
template <class Real>
struct BoxField {
  const Real* table;
  const int64_t* index;
  const int32_t *near_first, *near_last;
  const Real* q;
  Real* expansion;
  int64_t reach;
};

template <class Real>
struct BoxLoops {
  /// Computes for each score keys[i] = 2 box + other, and u[i], the position within the box, in [-1, 1].
  void (*assign)(const Real* scores, int64_t n, const BoxGrid& grid, int32_t other, int32_t* keys, Real* u);
  /// Computes u[i] = steepness (s - shift) 2 / width, for scores that fit into one box.
  void (*centre)(const Real* scores, int64_t n, const BoxGrid& grid, Real* u);
  /// Computes the moments of a box: q[m] = sum_i w_i T_m(u_i). A null w means weights of 1.
  void (*moments)(const Real* u, const Real* w, int64_t n, double* q);
  /// Computes the expansions of boxes first .. last - 1 from the moments of their near boxes.
  void (*translate)(const BoxField<Real>& field, int weights, int64_t first, int64_t last);
  /// Computes out[w][i] = sum_m expansions[w][m] T_m(u_i), for 1 to 3 expansions. Reads up to 15 entries past the end
  /// of u.
  void (*evaluate)(const Real* u, int64_t n, const Real* const* expansions, int count, Real* const* out);
};

template <class Real>
const BoxLoops<Real>& box_loops() {
  return chosen_loops<BoxLoops<Real>>();
}

}  // namespace mr::cpu
