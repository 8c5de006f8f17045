// The kernels of models and optimisers.
#pragma once

#include "kernels/core/table.h"
#include "kernels/math/factor.h"
#include "kernels/math/optim.h"

namespace mr {

#define MR_TRAINING_ROWS(LISTS, ELEMENTS)              \
  LISTS(factor_scores, FactorScores)                   \
  LISTS(factor_user_gradients, FactorUserGradients)    \
  ELEMENTS(factor_item_gradients, FactorItemGradients) \
  ELEMENTS(sgd_step, SgdStep)                          \
  ELEMENTS(adam_step, AdamStep)

MR_KERNEL_TABLE(TrainingKernels, MR_TRAINING_ROWS)

}  // namespace mr
