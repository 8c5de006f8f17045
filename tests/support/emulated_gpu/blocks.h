// Blocks of the emulated GPU: every lane is a fiber of its own, which gives way to the others at barriers and exchanges
// and nowhere else. Blocks run one after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace mr::test {

struct Index3 {
  unsigned x = 0, y = 0, z = 0;
};

/// Indices and sizes of the lane that runs now, under the names that CUDA gives them.
inline Index3 thread_index, block_index;
inline Index3 block_size, grid_size;

enum class Exchange { barrier, lane, any };

/// Runs `lane` in every lane of every block, forward or backward. Throws std::logic_error where lanes wait for others
/// that never come, where lanes of one warp wait for different things, or where shared memory is overrun.
void run_blocks(const char* kernel, unsigned blocks, unsigned lanes, size_t shared_bytes, bool backward,
                const std::function<void()>& lane);

/// The dynamic shared memory of the block, which is NaN when the block starts.
void* shared_memory();
void block_barrier();
/// Waits for the lanes of `mask` and returns the value that lane `source` of the warp brought (Exchange::lane), or
/// which lanes brought one that is not 0 (any).
uint64_t exchange(Exchange kind, unsigned mask, uint64_t value, unsigned source);

}  // namespace mr::test
