// Lets Lua functions take and return distributions of metrics over random rankings.
#pragma once

#include <memory>
#include <string>

#include "runtime/bounds/smooth_cdf.h"
#include "runtime/ops/lists.h"

namespace mr {

using SharedDistribution = std::shared_ptr<const RankingDistribution>;
template <>
inline constexpr const char* lua::class_name<SharedDistribution> = "mr.Distribution";

/// Returns how the steepness a of a smoothed distribution function is chosen. `steepness` is "kappa" (a = amount /
/// standard deviation), "gain" (a = amount), or "samples" (a by Westerborg 2022, Eq. 3.13, without `amount`).
Smoothing to_smoothing(const std::string& steepness, double amount);
/// Returns how a distribution over random rankings is computed. `method` is "exact", "sampled" or "auto".
Finding to_finding(const std::string& method, int64_t samples, int64_t seed);

}  // namespace mr
