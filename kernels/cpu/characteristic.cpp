#include "kernels/cpu/characteristic.h"

#include <string_view>

#include "kernels/cpu/pairs.h"

namespace mr::cpu {

int64_t characteristic_scratch(const RankingTransform& transform) {
  int64_t states = 1;
  for (int64_t l = 0; l < transform.levels; ++l) states *= transform.rows_of[l] + 1;
  return (states + 1) * 2 * frequency_lanes;
}

void characteristic(const RankingTransform& transform, double* scratch, double* re, double* im) {
  static const std::string_view simd = simd_name();
  (simd == "avx512" ? avx512::characteristic
   : simd == "avx2" ? avx2::characteristic
                    : scalar::characteristic)(transform, scratch, re, im);
}

void fourier_sums(const double* coefficients, int64_t terms, const double* w_re, const double* w_im, double* first,
                  double* second) {
  static const std::string_view simd = simd_name();
  (simd == "avx512" ? avx512::fourier_sums
   : simd == "avx2" ? avx2::fourier_sums
                    : scalar::fourier_sums)(coefficients, terms, w_re, w_im, first, second);
}

}  // namespace mr::cpu
