// Scores turned into a ranking of each list, once; every exact metric reads it.
#pragma once

#include <memory>

#include "kernels/math/order.h"
#include "runtime/ops/lists.h"

namespace mr {

struct Ranking {
  Lists lists;
  Ties ties;
  float threshold;
  Dtype dtype;
  Device device;
  std::shared_ptr<Storage> places;

  Span<const Placement> placements() const { return {static_cast<const Placement*>(places->data()), lists.rows()}; }
  int64_t longest() const;
};

/// "mean", "stable", "worst" or "trec".
Ties to_ties(const std::string& name);
Ranking rank_rows(const Tensor& scores, const Lists& lists, Ties ties, float threshold);

template <>
inline constexpr const char* lua::class_name<Ranking> = "mr.Ranking";

}  // namespace mr
