#include "kernels/bounds/characteristic_cpu.h"

#include "kernels/core/simd.h"

namespace mr::cpu {

int64_t characteristic_scratch(const RankingTransform& transform) {
  int64_t states = 1;
  for (int64_t l = 0; l < transform.levels; ++l) states *= transform.rows_of[l] + 1;
  return (states + 1) * 2 * frequency_lanes;
}

void characteristic(const RankingTransform& transform, double* scratch, double* re, double* im) {
  for_this_simd(&scalar::characteristic, &avx2::characteristic, &avx512::characteristic)(transform, scratch, re, im);
}

void fourier_sums(const double* coefficients, int64_t terms, const double* w_re, const double* w_im, double* first,
                  double* second) {
  for_this_simd(&scalar::fourier_sums, &avx2::fourier_sums, &avx512::fourier_sums)(coefficients, terms, w_re, w_im,
                                                                                   first, second);
}

}  // namespace mr::cpu
