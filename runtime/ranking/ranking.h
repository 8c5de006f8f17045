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
  bool relevant_only = false;  // true if `places` has the ranks of relevant rows only

  Span<const Placement> placements() const { return places.span(); }
};

inline constexpr Named<Ties> tie_rules[] = {
    {"mean", Ties::mean}, {"stable", Ties::stable}, {"worst", Ties::worst}, {"trec", Ties::trec}};
Ranking rank_rows(const Tensor& scores, const Lists& lists, Ties ties, float threshold);
/// Returns int64 row numbers, counted from 1 within the batch: list after list, and in each list by rank. Of tied rows,
/// the one with the lower number is first.
Tensor order_of(const Ranking& ranking);

template <>
inline constexpr const char* lua::class_name<Ranking> = "mr.Ranking";

}  // namespace mr
