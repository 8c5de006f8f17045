// Groups positions by equal numbers, for example to add up the gradient rows that belong to one embedding row.
#pragma once

#include "runtime/tensor/tensor.h"

namespace mr {

/// Groups of equal numbers. Entry g of `numbers` is the number of group g, ascending. The positions where it occurs,
/// counted from 0 and ascending, are order[starts[g]] .. order[starts[g + 1] - 1].
struct NumberGroups {
  Tensor numbers, starts, order;
};

/// Finds the positions of each number that occurs in an int64 tensor. All numbers must be from 1 to `most`. The result
/// is on the device of `numbers`.
NumberGroups group_numbers(const Tensor& numbers, int64_t most = INT64_MAX);

}  // namespace mr
