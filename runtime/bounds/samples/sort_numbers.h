// Bucket sort for many numbers that are spread over a range, such as sampled metrics.
#pragma once

#include <vector>

namespace mr {

/// Sorts numbers without NaN in ascending order. They are put into short buckets (intervals of equal width), and
/// std::sort sorts each bucket.
void sort_numbers(std::vector<double>& numbers);

}  // namespace mr
