// Sorting and scanning on the GPU, queued on the one stream without waiting: kernels/device/sort.cu, which alone
// includes CUB. Lists of a batch are sorted in one go with the list's number above the score's bits in the key: CUB's
// segmented sort reads sizes back to the host, which would wait and could not be part of a graph.
#pragma once

#include <cstdint>

namespace mr::cuda {

/// Pairs by ascending key, in place; equal keys keep their order. Only the lowest `bits` bits of the keys are read.
void sort_pairs(int64_t count, uint64_t* keys, int64_t* values, int bits = 64);

/// out[i] = values[0] + ... + values[i - 1]; `out` may be `values`.
void exclusive_scan(int64_t count, const int64_t* values, int64_t* out);

}  // namespace mr::cuda
