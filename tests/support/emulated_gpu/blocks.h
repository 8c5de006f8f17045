// Thread blocks of the emulated GPU. Every lane is a fiber of its own, which switches to other lanes only at barriers
// and exchanges. Blocks run one after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace mr::test {

struct Index3 {
  unsigned x = 0, y = 0, z = 0;
};

/// Index and block index of the running lane, and the sizes of its block and grid, like CUDA's threadIdx, blockIdx,
/// blockDim and gridDim.
inline Index3 thread_index, block_index;
inline Index3 block_size, grid_size;

enum class Exchange { barrier, lane, any };

/// Runs the function `lane` in every lane of every block, forward or backward. Throws std::logic_error if a lane waits
/// for lanes that never come, if lanes of one warp wait for different things, or if a kernel writes past the end of
/// shared memory.
void run_blocks(const char* kernel, unsigned blocks, unsigned lanes, size_t shared_bytes, bool backward,
                const std::function<void()>& lane);

/// Returns the dynamic shared memory of the running block. It is filled with NaN when the block starts.
void* shared_memory();
void block_barrier();
/// Waits until all lanes of `mask` have called this function. For Exchange::lane, returns the value that lane `source`
/// of the warp has passed; for a vote (any), returns a mask of the lanes whose value is not 0.
uint64_t exchange(Exchange kind, unsigned mask, uint64_t value, unsigned source);

}  // namespace mr::test
