// Sorting many numbers that are spread over a range, as samples are.
#pragma once

#include <vector>

namespace mr {

/// Ascending, the order of std::sort: numbers go into buckets of equal width, which are short, and are sorted there.
/// None may be NaN.
void sort_numbers(std::vector<double>& numbers);

}  // namespace mr
