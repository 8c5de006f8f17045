// What is compiled once per instruction set, in the forms that this processor can run: tests hold them against each
// other.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/core/simd.h"

namespace mr {

template <class Form>
std::vector<std::pair<std::string, Form>> simd_forms(Form scalar, Form avx2, Form avx512) {
  std::vector<std::pair<std::string, Form>> found{{"scalar", scalar}};
  if (cpu::best_simd() >= cpu::Simd::avx2) found.emplace_back("avx2", avx2);
  if (cpu::best_simd() >= cpu::Simd::avx512) found.emplace_back("avx512", avx512);
  return found;
}

/// The same of what the forms return. Those beyond the processor are not called: they may be compiled with its
/// instructions.
template <class Loops>
std::vector<std::pair<std::string, Loops>> simd_loops(Loops (*scalar)(), Loops (*avx2)(), Loops (*avx512)()) {
  std::vector<std::pair<std::string, Loops>> found;
  for (const auto& [name, make] : simd_forms(scalar, avx2, avx512)) found.emplace_back(name, make());
  return found;
}

}  // namespace mr
