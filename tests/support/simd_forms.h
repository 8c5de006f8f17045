// Lists the compiled versions of a loop, one per instruction set that this processor has, so that tests can compare
// them with each other.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/core/simd/simd.h"

namespace mr {

template <class Loops>
std::vector<std::pair<std::string, Loops>> simd_forms() {
  std::vector<std::pair<std::string, Loops>> found;
  for (const cpu::Simd set : cpu::compiled_sets) {
    if (cpu::supports(set)) found.emplace_back(cpu::simd_name(set), cpu::loops_of<Loops>(set));
  }
  return found;
}

}  // namespace mr
