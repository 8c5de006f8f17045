// Lists all op tables, which are tables of C++ functions for Lua, one per line. A table does not register itself.
#include "runtime/lua/bind.h"

namespace mr {

// clang-format off
#define MR_OP_TABLES(ROW)    \
  ROW(about_functions)       \
  ROW(system_functions)      \
  ROW(interrupt_functions)   \
  ROW(exit_functions)        \
  ROW(exit_getters)          \
  ROW(exit_operators)        \
  ROW(gnuplot_functions)     \
  ROW(create_functions)      \
  ROW(create_methods)        \
  ROW(create_getters)        \
  ROW(create_operators)      \
  ROW(elementwise_methods)   \
  ROW(elementwise_operators) \
  ROW(elementwise_functions) \
  ROW(number_functions)      \
  ROW(reduce_methods)        \
  ROW(log_sum_methods)       \
  ROW(moment_methods)        \
  ROW(join_functions)        \
  ROW(gather_methods)        \
  ROW(window_functions)      \
  ROW(sort_functions)        \
  ROW(shape_methods)         \
  ROW(shape_functions)       \
  ROW(shape_getters)         \
  ROW(matmul_methods)        \
  ROW(layer_functions)       \
  ROW(capture_functions)   \
  ROW(capture_methods)     \
  ROW(tally_functions)       \
  ROW(tally_methods)         \
  ROW(tally_getters)         \
  ROW(gradient_functions)    \
  ROW(gradient_methods)      \
  ROW(gradient_getters)      \
  ROW(smooth_functions)      \
  ROW(smooth_methods)        \
  ROW(grade_functions)       \
  ROW(lambda_functions)      \
  ROW(newton_functions)      \
  ROW(pointwise_functions)   \
  ROW(sampled_functions)     \
  ROW(plackett_luce_functions) \
  ROW(list_loss_functions)   \
  ROW(listwise_functions)    \
  ROW(softmax_loss_functions) \
  ROW(relaxed_functions)     \
  ROW(top_ranks_functions)   \
  ROW(data_functions)        \
  ROW(positives_getters)     \
  ROW(trec_functions)        \
  ROW(feature_functions)     \
  ROW(image_functions)       \
  ROW(user_items_functions)  \
  ROW(user_items_methods)    \
  ROW(user_items_getters)    \
  ROW(negatives_methods)     \
  ROW(candidate_functions)   \
  ROW(top_of_catalogue_functions) \
  ROW(sampled_rank_functions) \
  ROW(top_functions)         \
  ROW(relevant_ranking_functions) \
  ROW(neighbour_functions)   \
  ROW(neighbour_methods)     \
  ROW(neighbour_getters)     \
  ROW(ranking_functions)     \
  ROW(ranking_methods)     \
  ROW(ranking_getters)     \
  ROW(metric_functions)      \
  ROW(metric_registry_methods) \
  ROW(metric_methods)        \
  ROW(metric_getters)        \
  ROW(stats_functions)       \
  ROW(resampling_functions)  \
  ROW(kernel_fit_functions)  \
  ROW(spline_functions)      \
  ROW(sobol_functions)       \
  ROW(least_squares_functions) \
  ROW(bound_functions)       \
  ROW(affine_functions)      \
  ROW(affine_getters)        \
  ROW(order_functions)       \
  ROW(distribution_functions) \
  ROW(distribution_bound_functions) \
  ROW(distribution_methods)  \
  ROW(distribution_operators) \
  ROW(factor_functions)      \
  ROW(attention_methods)     \
  ROW(network_methods)       \
  ROW(booster_functions)     \
  ROW(booster_methods)       \
  ROW(booster_getters)       \
  ROW(model_file_functions)  \
  ROW(fingerprint_functions) \
  ROW(permutation_functions) \
  ROW(store_functions)       \
  ROW(store_methods)         \
  ROW(http_functions)        \
  ROW(http_methods)          \
  ROW(worker_functions)      \
  ROW(channel_methods)       \
  ROW(lock_methods)          \
  ROW(profile_functions)     \
  ROW(profiler_methods)      \
  ROW(running_profile_methods) \
  ROW(profile_phase_methods) \
  ROW(cluster_functions)     \
  ROW(gradient_sum_functions) \
  ROW(optim_functions)       \
  ROW(optim_state_functions) \
  ROW(root_step_functions)   \
  ROW(clip_functions)        \
  ROW(optim_operators)       \
  ROW(lists_functions)       \
  ROW(list_pairs_functions)  \
  ROW(lists_methods)         \
  ROW(lists_getters)         \
  ROW(lists_operators)
// clang-format on

#define MR_DECLARE(table) extern const lua::OpTable table;
#define MR_LIST(table) &table,
MR_OP_TABLES(MR_DECLARE)

const std::vector<const lua::OpTable*>& lua::op_tables() {
  static const std::vector<const lua::OpTable*> tables{MR_OP_TABLES(MR_LIST)};
  return tables;
}

}  // namespace mr
