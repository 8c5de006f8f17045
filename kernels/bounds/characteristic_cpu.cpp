#include "kernels/bounds/characteristic_cpu.h"

namespace mr::cpu {

int64_t characteristic_scratch(const RankingTransform& transform) {
  int64_t states = 1;
  for (int64_t l = 0; l < transform.levels; ++l) states *= transform.rows_of[l] + 1;
  return (states + 1) * 2 * frequency_lanes;
}

}  // namespace mr::cpu
