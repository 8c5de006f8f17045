// A ranking of each list, computed once from scores. All exact metrics use this ranking.
#pragma once

#include "kernels/ranking/order.h"
#include "runtime/ops/lists.h"
#include "runtime/ranking/named.h"
#include "runtime/tensor/device_array.h"

namespace mr {

struct Ranking {
  Lists lists;
  Ties ties;
  float threshold;
  Dtype dtype;
  Device device;
  DeviceArray<Placement> places;
  bool relevant_only = false;  // true if only relevant rows have a place in `places`

  Span<const Placement> placements() const { return places.span(); }
};

inline constexpr Named<Ties> tie_rules[] = {
    {"mean", Ties::mean}, {"stable", Ties::stable}, {"worst", Ties::worst}, {"trec", Ties::trec}};
Ranking rank_rows(const Tensor& scores, const Lists& lists, Ties ties, float threshold);
/// Returns int64 row numbers of each list by rank, counted from 1 within the batch. Of tied rows the lower is
/// first.
Tensor order_of(const Ranking& ranking);

template <>
inline constexpr const char* lua::class_name<Ranking> = "mr.Ranking";

}  // namespace mr
