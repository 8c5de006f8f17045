// Sorting and prefix sums on the GPU, queued on the one stream without waiting. Only kernels/device/sort.cu includes
// CUB. All lists of a batch are sorted at once, with the list's number above the score's bits in the key: CUB's
// segmented sort reads sizes back to the host, which would wait and cannot be part of a CUDA graph.
#pragma once

#include <cstdint>

namespace mr::cuda {

/// Sorts pairs by ascending key, in place and stably. Only the lowest `bits` bits of the keys are compared.
void sort_pairs(int64_t count, uint64_t* keys, int64_t* values, int bits = 64);

/// Computes exclusive prefix sums: out[i] = values[0] + ... + values[i - 1]. `out` may be `values`.
void exclusive_scan(int64_t count, const int64_t* values, int64_t* out);

}  // namespace mr::cuda
