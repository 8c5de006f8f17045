// Makes distributions of metrics over random rankings arguments and results of Lua functions.
#pragma once

#include <memory>
#include <string>

#include "runtime/bounds/smooth_cdf.h"
#include "runtime/ops/lists.h"

namespace mr {

using SharedDistribution = std::shared_ptr<const RankingDistribution>;
template <>
inline constexpr const char* lua::class_name<SharedDistribution> = "mr.Distribution";

/// `steepness`: "kappa", "samples" (ignores `amount`), or "gain" (`amount` is the steepness a).
Smoothing to_smoothing(const std::string& steepness, double amount);
/// `method`: "exact", "sampled" or "auto".
Finding to_finding(const std::string& method, int64_t samples, int64_t seed);

}  // namespace mr
