#include "kernels/core/simd.h"

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace mr::cpu {
namespace {

#if defined(__x86_64__)
bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
}
#else
bool has_avx2() { return false; }
bool has_avx512() { return false; }
#endif

Simd chosen() {
  const char* const wish = std::getenv("MOONRANK_SIMD");
  if (wish == nullptr || *wish == '\0') return best_simd();
  const std::string name = wish;
  if (name == "scalar") return Simd::scalar;
  if (name != "avx2" && name != "avx512") {
    throw std::invalid_argument("MOONRANK_SIMD is '" + name + "', expected 'scalar', 'avx2' or 'avx512'");
  }
  const Simd wanted = name == "avx2" ? Simd::avx2 : Simd::avx512;
  if (wanted > best_simd()) throw std::invalid_argument("MOONRANK_SIMD is '" + name + "', which this processor lacks");
  return wanted;
}

}  // namespace

Simd best_simd() { return has_avx512() ? Simd::avx512 : has_avx2() ? Simd::avx2 : Simd::scalar; }

Simd simd() {
  static const Simd the_choice = chosen();
  return the_choice;
}

const char* simd_name() { return for_this_simd("scalar", "avx2", "avx512"); }

}  // namespace mr::cpu
