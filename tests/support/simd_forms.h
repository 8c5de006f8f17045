// What is compiled once per instruction set, in the forms that this processor can run: tests hold them against each
// other.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/cpu/simd.h"

namespace mr {

template <class Form>
std::vector<std::pair<std::string, Form>> simd_forms(Form scalar, Form avx2, Form avx512) {
  std::vector<std::pair<std::string, Form>> found{{"scalar", scalar}};
  if (cpu::best_simd() >= cpu::Simd::avx2) found.emplace_back("avx2", avx2);
  if (cpu::best_simd() >= cpu::Simd::avx512) found.emplace_back("avx512", avx512);
  return found;
}

}  // namespace mr
