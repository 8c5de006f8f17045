// Scores of a factor model, s_r = <p_u, q_i> for the user u of the row's list and the item i of the row, and their
// derivatives, without gathered copies of the factors. Gradients are sparse: one row per list for users, one row for
// every item that occurs.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/group.h"
#include "kernels/core/view.h"
#include "kernels/device/list_of.h"

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

/// Computes the users' gradients: out[list] = sum of upstream[r] q_r over the rows r of the list.
template <class Real>
struct FactorUserGradients {
  Span<const Real> items;
  IndexView item_of;
  Ragged lists;
  int64_t width;
  Span<const Real> upstream;
  Span<Real> out;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = lists.begin(list), n = lists.size(list);
    // each thread sums one factor over the rows in order, so the sum does not depend on the number of threads
    group.each(width, [&](int64_t c) {
      Real total = 0;
      for (int64_t r = 0; r < n; ++r) total += upstream[at + r] * items[item_of[at + r] * width + c];
      out[list * width + c] = total;
    });
  }
};

/// For each row number in `rows` (rows of a batch, counted from 0, in any order), finds the user of the list that
/// contains the row.
template <class Real>
struct OwnersOfRows {
  Span<const int64_t> rows, user_of;
  Ragged lists;
  Span<int64_t> out;
  MR_HD void operator()(int64_t k) const { out[k] = user_of[cuda::list_of(lists, rows[k])]; }
};

/// Computes the items' gradients. Row d of `out` is the derivative by the d-th item that occurs: the sum of upstream[r]
/// p_u over the rows r = order[k] of the item, k from starts[d] on, with u = user_of[k]. The rows of an item are
/// ascending, so the sum is deterministic.
template <class Real>
struct FactorItemGradients {
  Span<const Real> users;
  IndexView user_of;
  Span<const int64_t> order, starts;
  int64_t width;
  Span<const Real> upstream;
  Span<Real> out;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t item) const {
    group.each(width, [&](int64_t c) {
      Real total = 0;
      for (int64_t k = starts[item]; k < starts[item + 1]; ++k)
        total += upstream[order[k]] * users[user_of[k] * width + c];
      out[item * width + c] = total;
    });
  }
};

/// Divides the rows of a matrix by their norms. A row of zeros stays as it is, and gets its derivative unchanged.
template <class Real>
struct UnitRows {
  Span<const Real> in;
  int64_t width;
  Span<Real> out;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t row) const {
    const Real* const x = in.data + row * width;
    const double squares = group.sum(width, [&](int64_t c) { return static_cast<double>(x[c]) * x[c]; });
    const double norm = squares > 0 ? std::sqrt(squares) : 1;
    group.each(width, [&](int64_t c) { out[row * width + c] = static_cast<Real>(x[c] / norm); });
  }
};

template <class Real>
struct UnitRowsVjp {
  Span<const Real> in, upstream;
  int64_t width;
  Span<Real> out;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t row) const {
    const Real *const x = in.data + row * width, *const g = upstream.data + row * width;
    const double squares = group.sum(width, [&](int64_t c) { return static_cast<double>(x[c]) * x[c]; });
    const double inner = group.sum(width, [&](int64_t c) { return static_cast<double>(x[c]) * g[c]; });
    const double norm = squares > 0 ? std::sqrt(squares) : 1, along = squares > 0 ? inner / squares : 0;
    group.each(width, [&](int64_t c) { out[row * width + c] = static_cast<Real>((g[c] - along * x[c]) / norm); });
  }
};

}  // namespace mr
