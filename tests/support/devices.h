// Tests that need a device begin with `if (!test::has(Device::cuda)) return;`: without a GPU they say so, and CTest
// counts them as skipped, not as passed.
#pragma once

#include <string>

#include <catch2/catch.hpp>

#include "kernels/cuda/device.h"
#include "runtime/tensor/device.h"

namespace mr::test {

/// Whether the device is there; says that the test is skipped otherwise.
inline bool has(Device device) {
  if (device == Device::cpu || cuda::available()) return true;
  WARN("SKIPPED: no CUDA device: " << cuda::reason());
  return false;
}

}  // namespace mr::test
