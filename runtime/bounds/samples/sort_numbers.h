// Bucket sort for many numbers that are spread over a range, such as samples.
#pragma once

#include <vector>

namespace mr {

/// Sorts numbers, which have no NaN, in ascending order. They are put into short buckets of equal width, which
/// std::sort sorts.
void sort_numbers(std::vector<double>& numbers);

}  // namespace mr
