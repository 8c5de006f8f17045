// Loops that find the large inner products of vectors and rows, as candidates for the first ranks. Few products reach
// the bound, and only these leave the registers. Compiled once per instruction set.
#pragma once

#include <cstdint>

#include "kernels/core/simd/simd.h"

namespace mr::cpu {

/// Collects the candidates of one vector: the rows of a matrix whose inner product with the vector is at least
/// `bound`. Each array has 64 spare bytes after its last entry, because whole SIMD registers are stored.
struct Basket {
  float bound;
  float* products;
  int32_t* rows;
  int64_t count;
};

/// Number of rows that are packed together in a strip. Vectors are packed in groups of `group`. Entry c of member j of
/// a strip or group is at position [c * size + j], where `size` is its number of members.
constexpr int64_t strip_rows = 32;

struct CandidateLoops {
  /// number of vectors that are packed and multiplied together
  int64_t group;
  /// Multiplies each vector by the rows of a strip, whose first row has number `first`. Rows whose product is at least
  /// the bound of the vector's basket are added to this basket. A product that is NaN is not added.
  void (*collect)(const float* strip, const float* vectors, int64_t groups, int64_t width, int32_t first,
                  Basket* baskets);
  /// Removes the rows from a basket whose product is below its `bound`.
  void (*keep)(Basket& basket);
  /// Returns how many of n inner products (of a vector with rows) are at least `least`.
  int64_t (*count)(const float* products, int64_t n, float least);
  /// Finds the least and the largest of n >= 1 products.
  void (*range)(const float* products, int64_t n, float* low, float* high);
};

inline const CandidateLoops& candidate_loops() { return chosen_loops<CandidateLoops>(); }

}  // namespace mr::cpu
