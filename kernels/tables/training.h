// The kernels of models and optimisers.
#pragma once

#include "kernels/core/table.h"
#include "kernels/math/factor.h"
#include "kernels/math/layer.h"
#include "kernels/math/optim.h"
#include "kernels/math/tally.h"

namespace mr {

#define MR_TRAINING_ROWS(LISTS, ELEMENTS)              \
  LISTS(factor_scores, FactorScores)                   \
  LISTS(factor_user_gradients, FactorUserGradients)    \
  ELEMENTS(factor_item_gradients, FactorItemGradients) \
  LISTS(layer_forward, LayerForward)                   \
  LISTS(layer_vjp, LayerVjp)                           \
  ELEMENTS(layer_bias, LayerBiasGradient)              \
  ELEMENTS(place_slots, PlaceSlots)                    \
  ELEMENTS(sgd_step, SgdStep)                          \
  ELEMENTS(adam_step, AdamStep)                        \
  ELEMENTS(adam_steps, AdamSteps)                      \
  ELEMENTS(adam_clock, AdamClock)                      \
  ELEMENTS(add_loss, AddLoss)                          \
  ELEMENTS(note_nan, NoteNan)

MR_KERNEL_TABLE(TrainingKernels, MR_TRAINING_ROWS)

}  // namespace mr
