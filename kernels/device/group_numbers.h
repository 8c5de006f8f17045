// Groups equal numbers on the GPU, queued on the one stream without waiting.
#pragma once

#include <cstdint>

namespace mr::cuda {

/// Output arrays of `group_numbers`, in device memory. A group is the set of positions at which the input has equal
/// numbers. `numbers` has each group's number, ascending. The positions of group g are order[starts[g]] ..
/// order[starts[g + 1] - 1], ascending and counted from 0. `found` gets the number of groups.
struct NumberGroups {
  int64_t *order, *starts, *numbers, *found;
};

/// Groups the positions of equal numbers in `numbers`, which has `count` entries from 1 to `most`. The output arrays
/// must have room: `order` for `count` entries, `numbers` for min(count, most), `starts` for one more than `numbers`.
void group_numbers(int64_t count, const int64_t* numbers, int64_t most, const NumberGroups& out);

}  // namespace mr::cuda
