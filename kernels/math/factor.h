// Scores of a factor model, s_r = <p_u, q_i> for the user u of the row's list and the item i of the row, and their
// derivatives, without gathered copies of the factors. Gradients come as rows: one per list for users, one per row for
// items.
#pragma once

#include <cstdint>

#include "kernels/core/group.h"
#include "kernels/core/view.h"

namespace mr {

template <class Real>
struct FactorScores {
  Span<const Real> users, items;
  IndexView user_of, item_of;
  Ragged lists;
  int64_t width;
  Span<Real> scores;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const Real* const p = users.data + user_of[list] * width;
    const int64_t at = lists.begin(list);
    group.each(lists.size(list), [&](int64_t r) {
      const Real* const q = items.data + item_of[at + r] * width;
      Real total = 0;
      for (int64_t c = 0; c < width; ++c) total += p[c] * q[c];
      scores[at + r] = total;
    });
  }
};

/// by_user[list] = sum of upstream[r] q_r; by_item[r] = upstream[r] p_u. A null target is not asked for.
template <class Real>
struct FactorScoresVjp {
  Span<const Real> users, items;
  IndexView user_of, item_of;
  Ragged lists;
  int64_t width;
  Span<const Real> upstream;
  Span<Real> by_user, by_item;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const Real* const p = users.data + user_of[list] * width;
    const int64_t at = lists.begin(list), n = lists.size(list);
    if (by_user.data) {
      // factor by factor, rows in order: the same sum whatever shares the work
      group.each(width, [&](int64_t c) {
        Real total = 0;
        for (int64_t r = 0; r < n; ++r) total += upstream[at + r] * items[item_of[at + r] * width + c];
        by_user[list * width + c] = total;
      });
    }
    if (by_item.data) {
      group.each(n, [&](int64_t r) {
        for (int64_t c = 0; c < width; ++c) by_item[(at + r) * width + c] = upstream[at + r] * p[c];
      });
    }
  }
};

}  // namespace mr
