#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "kernels/device/cuda_try.h"
#include "kernels/device/scratch.h"
#include "kernels/device/sort.h"

namespace mr::cuda {
namespace {

/// Calls a CUB function twice, as CUB requires: first for the size of its temporary memory, then for the work.
template <class Call>
void with_memory(const char* name, Call call) {
  Gpu& on = gpu();
  on.require_alive();
  on.note_launch(name);
  size_t bytes = 0;
  CUDA_TRY(on, call(nullptr, bytes));
  const Scratch<char> memory(static_cast<int64_t>(bytes));
  CUDA_TRY(on, call(memory.data(), bytes));
}

}  // namespace

void sort_pairs(int64_t count, uint64_t* keys, int64_t* values, int bits) {
  if (count <= 1) return;
  const Scratch<uint64_t> other_keys(count);
  const Scratch<int64_t> other_values(count);
  cub::DoubleBuffer<uint64_t> key(keys, other_keys.data());
  cub::DoubleBuffer<int64_t> value(values, other_values.data());
  with_memory("sort_pairs", [&](void* memory, size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(memory, bytes, key, value, count, 0, bits, stream(gpu()));
  });
  const int64_t size = count * static_cast<int64_t>(sizeof(uint64_t));
  if (key.Current() != keys) gpu().copy_on_device(keys, key.Current(), size);
  if (value.Current() != values) gpu().copy_on_device(values, value.Current(), size);
}

void exclusive_scan(int64_t count, const int64_t* values, int64_t* out) {
  if (count <= 0) return;
  with_memory("exclusive_scan", [&](void* memory, size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(memory, bytes, values, out, count, stream(gpu()));
  });
}

}  // namespace mr::cuda
