// Tests that need a device begin with `if (!test::has(Device::cuda)) return;`: without a GPU they say so, and CTest
// counts them as skipped, not as passed.
#pragma once

#include <vector>

#include <catch2/catch.hpp>

#include "kernels/device/gpu.h"
#include "runtime/tensor/device.h"

namespace mr::test {

/// True if the device is there; says that the test is skipped otherwise.
inline bool has(Device device) {
  if (device == Device::cpu || cuda::gpu().available()) return true;
  WARN("SKIPPED: no CUDA device: " << cuda::gpu().reason());
  return false;
}

/// The devices that are there, for `GENERATE(from_range(test::devices()))`: tests that mean something on the CPU alone.
inline std::vector<Device> devices() {
  if (cuda::gpu().available()) return {Device::cpu, Device::cuda};
  return {Device::cpu};
}

}  // namespace mr::test
