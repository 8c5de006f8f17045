// Tests that need a device begin with `if (!test::has(Device::cuda)) return;`: without a GPU they say so, and CTest
// counts them as skipped, not as passed.
#pragma once

#include <vector>

#include <catch2/catch.hpp>

#include "kernels/device/gpu.h"
#include "runtime/tensor/device.h"

namespace mr::test {

/// Returns true if the device is available. Otherwise prints a line by which CTest counts the test as skipped, and
/// returns false.
inline bool has(Device device) {
  if (device == Device::cpu || cuda::gpu().available()) return true;
  WARN("SKIPPED: no CUDA device: " << cuda::gpu().reason());
  return false;
}

/// Returns the available devices, for `GENERATE(from_range(test::devices()))` in tests that are also useful on the CPU
/// alone.
inline std::vector<Device> devices() {
  if (cuda::gpu().available()) return {Device::cpu, Device::cuda};
  return {Device::cpu};
}

}  // namespace mr::test
