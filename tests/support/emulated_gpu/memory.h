// Memory of the emulated GPU: the host cannot touch it except through copies and kernels, and kernels may be given no
// pointer into the host's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace mr::test {

/// While one lives, device memory can be read and written.
class DeviceAccess {
 public:
  DeviceAccess();
  ~DeviceAccess();
  DeviceAccess(const DeviceAccess&) = delete;
  DeviceAccess& operator=(const DeviceAccess&) = delete;
};

/// Throws std::logic_error unless every pointer among the words of a kernel's functor is null or points into a live
/// allocation of the device.
void check_pointers(const void* work, size_t bytes, const char* kernel);

/// What the device is to do: now, or, while it records, when the recording is run. Device memory is open meanwhile.
void queue(std::function<void()> work);

/// From now on there is memory for so many tensors more; below 0: for as many as there is room for.
void run_out_of_memory_after(int64_t allocations);

/// Whether this launch runs its lanes backward: every other one does.
bool next_launch_is_backward();

}  // namespace mr::test
