#include "kernels/core/numerics.h"

#include "kernels/core/simd/simd.h"

namespace mr {

std::string numerics() {
  return cpu::simd() == cpu::Simd::scalar ? std::string(numerics_version) + " scalar" : numerics_version;
}

}  // namespace mr
