// Positions of equal numbers, for sums of the rows that belong to one number.
#pragma once

#include "runtime/tensor/tensor.h"

namespace mr {

/// Entry g of `numbers` is the number of group g, ascending. Its positions, from 0 and ascending, are order[starts[g]]
/// .. order[starts[g + 1] - 1].
struct NumberGroups {
  Tensor numbers, starts, order;
};

/// Groups the positions of equal numbers of an int64 tensor. The numbers are 1 or more; with `most`, 1 to `most`. The
/// groups are on the device of the numbers.
NumberGroups group_numbers(const Tensor& numbers, int64_t most = INT64_MAX);

}  // namespace mr
