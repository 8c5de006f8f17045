// The kernels of pairwise losses.
#pragma once

#include "kernels/core/table.h"
#include "kernels/losses/lambda.h"

namespace mr {

#define MR_LAMBDA_ROWS(LISTS, ELEMENTS) LISTS(lambda_loss, LambdaLoss)

MR_KERNEL_TABLE(LambdaKernels, MR_LAMBDA_ROWS)

}  // namespace mr
