// Reductions per list over matrices: a row for each row of the lists in, a row for each list out, and back.
#pragma once

#include "runtime/tensor/lists.h"

namespace mr {

/// True if x has one row, of more or less than one entry, for each row of the lists.
bool has_columns(const Tensor& x, const Lists& lists);
// Recorded; x as above.
Tensor column_sum(const Tensor& x, const Lists& lists);
Tensor column_mean(const Tensor& x, const Lists& lists);
Tensor column_max(const Tensor& x, const Lists& lists);
Tensor column_softmax(const Tensor& x, const Lists& lists);
/// Row l of v, of any type, for each row of list l.
Tensor spread_rows(const Tensor& v, const Lists& lists);

}  // namespace mr
