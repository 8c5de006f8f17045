// The kernels that move entries about, for every type of entry.
#pragma once

#include "kernels/core/table.h"
#include "kernels/math/move.h"

namespace mr {

#define MR_MOVE_ROWS(LISTS, ELEMENTS) \
  ELEMENTS(fill, Fill)                \
  ELEMENTS(arange, Arange)            \
  ELEMENTS(convert, Convert)          \
  ELEMENTS(strided_copy, StridedCopy) \
  ELEMENTS(strided_put, StridedPut)   \
  ELEMENTS(gather_rows, GatherRows)   \
  ELEMENTS(put_rows, PutRows)

MR_KERNEL_TABLE(MoveKernels, MR_MOVE_ROWS)

}  // namespace mr
