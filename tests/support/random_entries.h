// Random numbers as input of kernels in tests. They are equal in every run.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/core/rng.h"

namespace mr::test {

/// Returns n numbers that are uniformly distributed between `low` and `high`. Each `stream` gives other numbers.
template <class Real>
std::vector<Real> random(int64_t n, const char* stream, double low = -1, double high = 1) {
  std::vector<Real> out;
  for (int64_t i = 0; i < n; ++i)
    out.push_back(static_cast<Real>(low + (high - low) * uniform(random_key(7, stream), static_cast<uint64_t>(i))));
  return out;
}

}  // namespace mr::test
