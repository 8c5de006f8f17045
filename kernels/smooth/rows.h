// Registers the kernels of smooth ranks.
#pragma once

#include "kernels/core/table.h"
#include "kernels/smooth/laplace.h"
#include "kernels/smooth/smooth_metrics.h"
#include "kernels/smooth/smooth_rank.h"
#include "kernels/smooth/smooth_rr.h"

namespace mr {

// clang-format off
#define MR_SMOOTH_ROWS(LISTS, ELEMENTS)           \
  LISTS(smooth_rank, SmoothRank)                  \
  LISTS(smooth_rank_vjp, SmoothRankVjp)           \
  LISTS(smooth_ndcg, SmoothNdcg)                  \
  LISTS(smooth_ap, SmoothAp)                      \
  LISTS(smooth_nrbp_loss, SmoothNrbpLoss)         \
  LISTS(smooth_rr_terms, SmoothRrTerms)           \
  LISTS(smooth_first, SmoothFirst)                \
  LISTS(smooth_rr, SmoothRr)                      \
  LISTS(smooth_log_rr, SmoothLogRr)               \
  LISTS(smooth_rr_product_vjp, SmoothRrProductVjp) \
  LISTS(laplace_rank, LaplaceRank)                \
  LISTS(laplace_rank_vjp, LaplaceRankVjp)         \
  LISTS(laplace_rr_terms, LaplaceRrTerms)         \
  LISTS(laplace_log_rr, LaplaceLogRr)             \
  LISTS(laplace_rr_product_vjp, LaplaceRrProductVjp)
// clang-format on

MR_KERNEL_TABLE(SmoothKernels, MR_SMOOTH_ROWS)

}  // namespace mr
