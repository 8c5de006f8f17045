// Evaluation against a full catalogue: the items of each list, and the ranks of its few relevant rows.
#pragma once

#include <cstdint>

#include "kernels/core/group.h"
#include "kernels/core/view.h"
#include "kernels/ranking/order.h"

namespace mr {

/// Computes candidate lists: the items 1 .. all except each list's excluded ones (ascending), in ascending order.
template <class Real>
struct CatalogueItems {
  Ragged lists, excluded;
  Span<const int64_t> left_out;
  int64_t all;
  Span<int64_t> items;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    int64_t at = lists.begin(list), next = 1;
    for (int64_t i = 0; i <= excluded.size(list); ++i) {
      const int64_t end = i < excluded.size(list) ? left_out[excluded.begin(list) + i] : all + 1;
      group.each(end - next, [&](int64_t j) { items[at + j] = next + j; });
      at += end - next;
      next = end + 1;
    }
  }
};

/// Computes the placements (order.h) of only the chosen rows under the tie rule `mean`, by counting. Every row with a
/// grade of at least `threshold` must be chosen.
template <class Real>
struct PlaceChosen {
  Span<const Real> scores;
  Span<const float> relevance;
  Ragged lists;
  Chosen chosen;
  float threshold;
  Span<Placement> out;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = lists.begin(list), n = lists.size(list), count = chosen.size(list);
    for (int64_t slot = 0; slot < count; ++slot) {
      const int64_t row = at + chosen(list, slot);
      const Real score = scores[row];
      const auto relevant = [&](int64_t i) { return relevance[at + chosen(list, i)] >= threshold; };
      const auto score_of = [&](int64_t i) { return scores[at + chosen(list, i)]; };
      const double above = group.sum(n, [&](int64_t j) { return scores[at + j] > score ? 1 : 0; });
      const double tied = group.sum(n, [&](int64_t j) { return scores[at + j] == score ? 1 : 0; });
      const double relevant_above =
          group.sum(count, [&](int64_t i) { return relevant(i) && score_of(i) > score ? 1 : 0; });
      const double relevant_tied =
          group.sum(count, [&](int64_t i) { return relevant(i) && score_of(i) == score ? 1 : 0; });
      group.each(1, [&](int64_t) {
        out[row] = {static_cast<int32_t>(above), static_cast<int32_t>(tied), static_cast<int32_t>(relevant_above),
                    static_cast<int32_t>(relevant_tied), 0};
      });
    }
  }
};

}  // namespace mr
