// Lists the forms of a loop that is compiled once per instruction set, as far as this processor can
// run them. Tests compare them with each other.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/core/simd.h"

namespace mr {

template <class Loops>
std::vector<std::pair<std::string, Loops>> simd_forms() {
  using cpu::Simd, cpu::loops_of;
  std::vector<std::pair<std::string, Loops>> found{{"scalar", loops_of<Loops, Simd::scalar>()}};
  if (cpu::best_simd() >= Simd::avx2) found.emplace_back("avx2", loops_of<Loops, Simd::avx2>());
  if (cpu::best_simd() >= Simd::avx512) found.emplace_back("avx512", loops_of<Loops, Simd::avx512>());
  return found;
}

}  // namespace mr
