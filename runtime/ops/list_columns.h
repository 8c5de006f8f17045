// Reductions of matrices per list, from one row per row of the lists to one row per list, and the reverse.
#pragma once

#include "runtime/tensor/lists.h"

namespace mr {

/// Returns true if x is a matrix with one row for each row of the lists, and does not have exactly one column.
bool has_columns(const Tensor& x, const Lists& lists);
// Reductions of each column of x over the rows of each list, recorded for the backward pass. x has one row for each row
// of the lists.
Tensor column_sum(const Tensor& x, const Lists& lists);
Tensor column_mean(const Tensor& x, const Lists& lists);
Tensor column_max(const Tensor& x, const Lists& lists);
Tensor column_softmax(const Tensor& x, const Lists& lists);
/// Copies row l of v, of any type, to each row of list l.
Tensor spread_rows(const Tensor& v, const Lists& lists);

}  // namespace mr
