// Groups equal numbers on the GPU, queued on the one stream without waiting.
#pragma once

#include <cstdint>

namespace mr::cuda {

/// Where group_numbers writes, in device memory. Entry g of `numbers` is the number of group g, ascending; its
/// positions are order[starts[g]] .. order[starts[g + 1] - 1], from 0 and ascending. `found` gets the number of groups.
struct NumberGroups {
  int64_t *order, *starts, *numbers, *found;
};

/// Groups the positions of equal numbers, which are 1 to `most`. `order` has room for `count` entries, `numbers` for
/// min(count, most), and `starts` for one more.
void group_numbers(int64_t count, const int64_t* numbers, int64_t most, const NumberGroups& out);

}  // namespace mr::cuda
