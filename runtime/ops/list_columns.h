// For a matrix with one row for each row of the lists: sum, mean, maximum and softmax of each column over the rows of
// each list. Also copies a row per list to the rows of the list.
#pragma once

#include "runtime/tensor/lists.h"

namespace mr {

/// Returns true if x is a matrix with one row for each row of the lists, and does not have exactly one column.
bool has_columns(const Tensor& x, const Lists& lists);
// `column_sum`, `column_mean` and `column_max` return one row per list, `column_softmax` one row for each row of x.
// Each column of x is reduced over the rows of each list. They are recorded for the backward pass.
Tensor column_sum(const Tensor& x, const Lists& lists);
Tensor column_mean(const Tensor& x, const Lists& lists);
Tensor column_max(const Tensor& x, const Lists& lists);
Tensor column_softmax(const Tensor& x, const Lists& lists);
/// Copies row l of v, of any type, to each row of list l.
Tensor spread_rows(const Tensor& v, const Lists& lists);

}  // namespace mr
