// Registers the kernels of models and optimizers, and of networks in which a row's score depends on the other rows.
#pragma once

#include "kernels/core/table.h"
#include "kernels/models/adam.h"
#include "kernels/models/attention.h"
#include "kernels/models/deferred/deferred.h"
#include "kernels/models/deferred/replay.h"
#include "kernels/models/factor.h"
#include "kernels/models/layer.h"
#include "kernels/models/network.h"
#include "kernels/models/optim.h"

namespace mr {

#define MR_TRAINING_ROWS(LISTS, ELEMENTS)           \
  LISTS(factor_scores, FactorScores)                \
  LISTS(factor_user_gradients, FactorUserGradients) \
  ELEMENTS(owners_of_rows, OwnersOfRows)            \
  LISTS(factor_item_gradients, FactorItemGradients) \
  LISTS(unit_rows, UnitRows)                        \
  LISTS(unit_rows_vjp, UnitRowsVjp)                 \
  LISTS(layer_forward, LayerForward)                \
  LISTS(layer_vjp, LayerVjp)                        \
  ELEMENTS(layer_bias, LayerBiasGradient)           \
  ELEMENTS(set_slots, SetSlots)                     \
  ELEMENTS(sgd_step, SgdStep)                       \
  ELEMENTS(root_step, RootStep)                     \
  ELEMENTS(shrink, Shrink)                          \
  ELEMENTS(adam_step, AdamStep)                     \
  ELEMENTS(adam_steps, AdamSteps)                   \
  ELEMENTS(adam_clock, AdamClock)

MR_KERNEL_TABLE(TrainingKernels, MR_TRAINING_ROWS)

#define MR_DEFERRED_ROWS(LISTS, ELEMENTS) \
  ELEMENTS(settle_rows, SettleRows)       \
  ELEMENTS(step_rows, StepRows)           \
  ELEMENTS(replay_rows, ReplayRows)

MR_KERNEL_TABLE(DeferredKernels, MR_DEFERRED_ROWS)

#define MR_NETWORK_ROWS(LISTS, ELEMENTS) \
  LISTS(attention, Attention)            \
  LISTS(attention_vjp, AttentionVjp)     \
  LISTS(layer_norm, LayerNorm)           \
  LISTS(layer_norm_vjp, LayerNormVjp)    \
  LISTS(layer_norm_sums, LayerNormSums)  \
  ELEMENTS(dropout, Dropout)

MR_KERNEL_TABLE(NetworkKernels, MR_NETWORK_ROWS)

}  // namespace mr
