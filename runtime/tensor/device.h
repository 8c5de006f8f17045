// The devices that hold tensors.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/core/table.h"

namespace mr {

enum class Device : uint8_t { cpu, cuda };

constexpr std::string_view name_of(Device device) { return device == Device::cpu ? "cpu" : "cuda"; }

/// Parses "cpu" or "cuda". Throws with the reason if the device is not available.
Device to_device(std::string_view name);

/// Returns the device of new tensors by default: that of the environment variable MOONRANK_DEVICE, else the CPU.
Device default_device();
void set_default_device(Device device);

/// Returns the kernels of one family for a device, for example kernels<SmoothKernels<float>>(device).
template <class Table>
const Table& kernels(Device device) {
  return device == Device::cpu ? cpu_table<Table>() : *cuda_table<Table>();
}

}  // namespace mr
