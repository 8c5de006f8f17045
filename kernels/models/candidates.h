// Loops that select candidates for the first ranks from inner products: of few pairs of vectors the product reaches a
// bound, and only these products leave the registers. Compiled once per instruction set.
#pragma once

#include <cstdint>

#include "kernels/core/simd.h"

namespace mr::cpu {

/// Candidates of one vector: the rows whose product with it is at least `bound`. The arrays have room for 64 bytes more
/// than they hold.
struct Basket {
  float bound;
  float* products;
  int32_t* rows;
  int64_t count;
};

/// Rows are packed in strips of `strip_rows`, vectors in groups: entry c of member j is at [c * size + j].
constexpr int64_t strip_rows = 32;

struct CandidateLoops {
  /// Vectors of a group.
  int64_t group;
  /// Multiplies each of the vectors by the rows of a strip, of which the first is number `first`, and adds candidates
  /// to the baskets, one for each vector. A product that is NaN is not added.
  void (*collect)(const float* strip, const float* vectors, int64_t groups, int64_t width, int32_t first,
                  Basket* baskets);
  /// Keeps the candidates with a product of at least `bound`.
  void (*keep)(Basket& basket);
  /// The number of n products that are at least `least`.
  int64_t (*count)(const float* products, int64_t n, float least);
  /// Least and largest of n >= 1 products.
  void (*range)(const float* products, int64_t n, float* low, float* high);
};

inline const CandidateLoops& candidate_loops() { return chosen_loops<CandidateLoops>(); }

}  // namespace mr::cpu
