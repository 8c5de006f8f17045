// Finds the k rows of a matrix with the largest inner products with each of many vectors: the first items of a factor
// model for each of its users.
//
// A block of vectors is multiplied by a strip of rows at a time (candidates.h). These products are sums in another
// order than inner_product (lane_sums.h), which defines scores, and differ from them by at most a known rounding error.
// So they only select candidates: rows whose product is not further below the k-th largest one so far than twice that
// error. The bound for candidates rises only when many have come, by bisection, and nothing is sorted before the end.
// Scores and ranks of the last candidates, few more than k, then come from inner_product. The result is the same bits
// as that of ranking all scores.
//
// Cost: the products, one comparison per 64 bytes of them, and about k log(k) per vector.
#pragma once

#include <cstdint>
#include <vector>

namespace mr::cpu {

struct TopProducts {
  const float* rows;  // [count, width]
  int64_t count, width;
  int64_t k;
};

/// Holds the packed rows of a matrix, for many calls of `top_products`.
class PackedRows {
 public:
  explicit PackedRows(const TopProducts& of);
  /// Returns the strip (candidates.h) whose first row is `first`.
  const float* strip(int64_t first) const { return packed_.data() + first * width_; }
  /// Returns the largest Euclidean norm of a row; not finite if an entry is not finite.
  double norm() const { return norm_; }

 private:
  std::vector<float> packed_;
  int64_t width_;
  double norm_ = 0;
};

/// A vector for which the rows with the largest products are wanted, and the row numbers, counted from 0 and
/// ascending, that must not be in its result.
struct TopQuery {
  const float* vector;
  const int64_t* left_out;
  int64_t left_out_count;
  /// Where to write the result: the row numbers, counted from 0, and the scores of the first k rows, or of all rows
  /// that are not left out if there are fewer.
  int64_t* top_rows;
  float* top_scores;
};

/// True if products with this vector cannot overflow, which `top_products` requires.
bool has_finite_products(const PackedRows& packed, const float* vector, int64_t width);

/// largest number of vectors that one call multiplies
constexpr int64_t most_queries = 256;

/// Finds the rows with the largest products for n <= most_queries vectors. Of equal scores the lower row number is
/// first.
void top_products(const TopProducts& of, const PackedRows& packed, const TopQuery* queries, int64_t n);

}  // namespace mr::cpu
