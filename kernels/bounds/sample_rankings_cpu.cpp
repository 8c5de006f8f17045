#include "kernels/bounds/sample_rankings_cpu.h"

#include "kernels/core/simd.h"

namespace mr::cpu {

void sample_rankings(const RankingSampler& sampler, int64_t first, int64_t count, double* values) {
  for_this_simd(&scalar::sample, &avx2::sample, &avx512::sample)(sampler, first, count, values);
}

}  // namespace mr::cpu
