#include "kernels/core/simd/simd.h"

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace mr::cpu {
namespace {

/// Returns the names of the compiled instruction sets, for an error: "'scalar', 'avx2' or 'avx512'" in a build for
/// x86-64.
std::string compiled_names() {
  std::string out;
  for (const Simd set : compiled_sets) {
    if (!out.empty()) out += set == *std::rbegin(compiled_sets) ? " or " : ", ";
    out += std::string("'") + simd_name(set) + "'";
  }
  return out;
}

Simd chosen() {
  const char* const wish = std::getenv("MOONRANK_SIMD");
  if (wish == nullptr || *wish == '\0') return best_simd();
  const std::string name = wish;
  for (const Simd set : compiled_sets) {
    if (name != simd_name(set)) continue;
    if (supports(set)) return set;
    throw std::invalid_argument("MOONRANK_SIMD is '" + name + "', which this processor lacks");
  }
  throw std::invalid_argument("MOONRANK_SIMD is '" + name + "', expected " + compiled_names());
}

}  // namespace

bool supports([[maybe_unused]] Simd set) {
#if defined(__x86_64__)
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (set == Simd::avx2) return avx2;
  if (set == Simd::avx512) {
    return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
  }
#endif
  return true;
}

Simd best_simd() {
  Simd best = compiled_sets[0];
  for (const Simd set : compiled_sets) {
    if (supports(set)) best = set;
  }
  return best;
}

Simd simd() {
  static const Simd the_choice = chosen();
  return the_choice;
}

const char* simd_name(Simd set) {
  switch (set) {
    case Simd::scalar:
      return "scalar";
    case Simd::avx2:
      return "avx2";
    case Simd::avx512:
      return "avx512";
    case Simd::neon:
      return "neon";
  }
  return "";
}

}  // namespace mr::cpu
