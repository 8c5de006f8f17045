#include "kernels/cpu/sample_rankings.h"

#include <string_view>

#include "kernels/cpu/pairs.h"

namespace mr::cpu {

void sample_rankings(const RankingSampler& sampler, int64_t first, int64_t count, double* values) {
  static const std::string_view simd = simd_name();
  (simd == "avx512" ? avx512::sample : simd == "avx2" ? avx2::sample : scalar::sample)(sampler, first, count, values);
}

}  // namespace mr::cpu
