// The kernels of networks whose rows see each other.
#pragma once

#include "kernels/core/table.h"
#include "kernels/math/attention.h"
#include "kernels/math/network.h"

namespace mr {

#define MR_NETWORK_ROWS(LISTS, ELEMENTS)   \
  LISTS(attention, Attention)              \
  LISTS(attention_vjp, AttentionVjp)       \
  LISTS(layer_norm, LayerNorm)             \
  LISTS(layer_norm_vjp, LayerNormVjp)      \
  LISTS(layer_norm_sums, LayerNormSums)    \
  ELEMENTS(dropout, Dropout)

MR_KERNEL_TABLE(NetworkKernels, MR_NETWORK_ROWS)

}  // namespace mr
