// The processors that tensors live on.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/core/table.h"

namespace mr {

enum class Device : uint8_t { cpu, cuda };

constexpr std::string_view name_of(Device device) { return device == Device::cpu ? "cpu" : "cuda"; }

/// "cpu" or "cuda"; throws with the reason where there is no such device.
Device to_device(std::string_view name);

/// Where tensors are made unless told otherwise; starts as what the environment variable MOONRANK_DEVICE says, else as
/// the CPU.
Device default_device();
void set_default_device(Device device);

/// The kernels of one family for a device, e.g. kernels<SmoothKernels<float>>(device).
template <class Table>
const Table& kernels(Device device) {
  return device == Device::cpu ? cpu_table<Table>() : *cuda_table<Table>();
}

}  // namespace mr
