// Loops that find the large inner products of vectors and rows, as candidates for the first ranks. Few products reach
// the bound, and only these leave the registers. Compiled once per instruction set.
#pragma once

#include <cstdint>

#include "kernels/core/simd.h"

namespace mr::cpu {

/// Candidates of one vector: the rows whose product with it is at least `bound`. Each array has 64 spare bytes after
/// its last entry, because whole SIMD registers are stored.
struct Basket {
  float bound;
  float* products;
  int32_t* rows;
  int64_t count;
};

/// Rows are packed in strips of `strip_rows` rows, vectors in groups of `group`: entry c of member j is at [c * size +
/// j].
constexpr int64_t strip_rows = 32;

struct CandidateLoops {
  /// Vectors of a group.
  int64_t group;
  /// Multiplies each vector by the rows of a strip, of which the first is row `first`, and adds candidates to the
  /// basket of the vector. A product that is NaN is not added.
  void (*collect)(const float* strip, const float* vectors, int64_t groups, int64_t width, int32_t first,
                  Basket* baskets);
  /// Removes the candidates with a product below `bound`.
  void (*keep)(Basket& basket);
  /// Returns how many of n inner products (of a vector with rows) are at least `least`.
  int64_t (*count)(const float* products, int64_t n, float least);
  /// Finds the least and the largest of n >= 1 products.
  void (*range)(const float* products, int64_t n, float* low, float* high);
};

inline const CandidateLoops& candidate_loops() { return chosen_loops<CandidateLoops>(); }

}  // namespace mr::cpu
