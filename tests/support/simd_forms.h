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
  std::vector<std::pair<std::string, Loops>> found;
  for (const cpu::Simd set : cpu::compiled_sets) {
    if (cpu::supports(set)) found.emplace_back(cpu::simd_name(set), cpu::loops_of<Loops>(set));
  }
  return found;
}

}  // namespace mr
