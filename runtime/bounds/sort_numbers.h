// Bucket sort for many numbers that are spread over a range, such as samples.
#pragma once

#include <vector>

namespace mr {

/// Sorts ascending. Numbers are put into short buckets of equal width, which are sorted by std::sort. NaN is not
/// allowed.
void sort_numbers(std::vector<double>& numbers);

}  // namespace mr
