// Inner loops for sums of sigma(x_j - x_i) and of its derivative k(x_j - x_i) over some rows j of a list (sources), for
// its rows i (targets), in time near linear in the number of rows. A box is an interval of scores. The code is in
// box_loops.h, compiled once per instruction set.
#pragma once

#include <cstdint>

#include "kernels/core/simd/simd.h"
#include "kernels/smooth/boxes/box_table.h"

namespace mr::cpu {

/// largest number of sets of row weights for which one call of `translate` computes sums
constexpr int box_weights = 4;

/// Divides the axis of scores into boxes (intervals of one width): x = steepness (s - shift) lies in box round(x /
/// width) - first, of 0 .. last.
struct BoxGrid {
  double steepness, shift, first, last;
};

/// Input and output of `translate`, which sums the contributions of all near boxes to each box of scores. For every
/// box there are: its number (`index`), the range of near boxes, its moments q (what its rows contribute), and its
/// expansion (the result). The latter two have `padded` entries for each of the `weights`. In `table`, the block for a
/// source box that is `apart` boxes above the target box has at entry m * padded + n the coefficient of T_m(source)
/// T_n(target). Blocks are terms * padded entries long.
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
  /// Assigns scores to boxes: computes for each score the key keys[i] = 2 box + other (`other` is 1 for rows that are
  /// not marked), and u[i], its position within the box, in [-1, 1].
  void (*assign)(const Real* scores, int64_t n, const BoxGrid& grid, int32_t other, int32_t* keys, Real* u);
  /// Assigns scores that all fit into one box: u[i] = steepness (s_i - shift) 2 / width is the position of score s_i
  /// within the box, in [-1, 1].
  void (*centre)(const Real* scores, int64_t n, const BoxGrid& grid, Real* u);
  /// Computes the moments of a box from the positions u_i and weights w_i of its rows: q[m] = sum_i w_i T_m(u_i),
  /// where T_m is a Chebyshev polynomial. A null w means weights of 1.
  void (*moments)(const Real* u, const Real* w, int64_t n, double* q);
  /// Computes the Chebyshev expansions of boxes `first` to `last` - 1 from the moments of the boxes near them.
  void (*translate)(const BoxField<Real>& field, int weights, int64_t first, int64_t last);
  /// Evaluates `count` (1 to 3) Chebyshev expansions of a box at n positions: out[w][i] = sum_m expansions[w][m]
  /// T_m(u_i). Reads up to 15 entries past the end of u.
  void (*evaluate)(const Real* u, int64_t n, const Real* const* expansions, int count, Real* const* out);
};

template <class Real>
const BoxLoops<Real>& box_loops() {
  return chosen_loops<BoxLoops<Real>>();
}

}  // namespace mr::cpu
