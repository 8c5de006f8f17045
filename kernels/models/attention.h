// Attention within lists (Vaswani et al. 2017, Eq. 1): o_i = sum_j p_ij v_j with p_ij = softmax_j(a q_i . k_j), over
// the rows j of i's list, for every head. A head is a range of columns of q, k, v and o; a = 1 / sqrt(columns of a
// head). Only l_i = log sum_j exp(a q_i . k_j) is stored instead of p, so memory is proportional to rows, not to pairs.
// The functors are called with (group, list * heads + head).
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/group.h"
#include "kernels/core/logarithms.h"
#include "kernels/core/view.h"

namespace mr {

/// The entries of one list's rows in one head's columns.
struct AttentionHead {
  int64_t first, rows, head;
};

template <class Real>
struct AttentionInputs {
  Span<const Real> q, k, v;
  Ragged lists;
  int64_t heads, columns;

  MR_HD int64_t stride() const { return heads * columns; }
  MR_HD Real scale() const { return 1 / std::sqrt(static_cast<Real>(columns)); }
  MR_HD AttentionHead at(int64_t index) const {
    const int64_t list = index / heads;
    return {lists.begin(list), lists.size(list), index % heads};
  }
  /// Returns the index of row i's entry in the head's first column.
  MR_HD int64_t entry(const AttentionHead& h, int64_t i) const { return (h.first + i) * stride() + h.head * columns; }
  MR_HD Real dot(const Real* x, const Real* y) const {
    Real total = 0;
    for (int64_t c = 0; c < columns; ++c) total += x[c] * y[c];
    return total;
  }
  MR_HD Real score(const AttentionHead& h, int64_t i, int64_t j) const {
    return scale() * dot(q.data + entry(h, i), k.data + entry(h, j));
  }
};

template <class Real>
struct Attention {
  AttentionInputs<Real> in;
  Span<Real> out, log_sums;  // log_sums[row * heads + head]: log sum_j exp(a q_i . k_j) for this row i and head
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t index) const {
    const AttentionHead h = in.at(index);
    group.each(h.rows, [&](int64_t i) {
      Real top = -INFINITY;
      for (int64_t j = 0; j < h.rows; ++j) top = std::fmax(top, in.score(h, i, j));
      double total = 0;
      for (int64_t j = 0; j < h.rows; ++j) total += portable::exp(static_cast<double>(in.score(h, i, j) - top));
      const Real log_sum = top + static_cast<Real>(portable::log(total));
      Real* const o = out.data + in.entry(h, i);
      for (int64_t c = 0; c < in.columns; ++c) o[c] = 0;
      for (int64_t j = 0; j < h.rows; ++j) {
        const Real p = portable::exp(in.score(h, i, j) - log_sum);
        const Real* const v = in.v.data + in.entry(h, j);
        for (int64_t c = 0; c < in.columns; ++c) o[c] += p * v[c];
      }
      log_sums[(h.first + i) * in.heads + h.head] = log_sum;
    });
  }
};

/// Computes the derivatives of attention. With u = dL/do: dp_ij = u_i . v_j and ds_ij = a p_ij (dp_ij - u_i . o_i).
/// Then dL/dq_i = sum_j ds_ij k_j, dL/dk_j = sum_i ds_ij q_i and dL/dv_j = sum_i p_ij u_i.
template <class Real>
struct AttentionVjp {
  AttentionInputs<Real> in;
  Span<const Real> out, log_sums, upstream;
  Span<Real> by_q, by_k, by_v;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t index) const {
    const AttentionHead h = in.at(index);
    group.each(h.rows, [&](int64_t i) {
      Real* const gq = by_q.data + in.entry(h, i);
      for (int64_t c = 0; c < in.columns; ++c) gq[c] = 0;
      for (int64_t j = 0; j < h.rows; ++j) {
        const Real slope = score_slope(h, i, j);
        for (int64_t c = 0; c < in.columns; ++c) gq[c] += slope * in.k[in.entry(h, j) + c];
      }
    });
    group.each(h.rows, [&](int64_t j) {
      Real *const gk = by_k.data + in.entry(h, j), *const gv = by_v.data + in.entry(h, j);
      for (int64_t c = 0; c < in.columns; ++c) gk[c] = gv[c] = 0;
      for (int64_t i = 0; i < h.rows; ++i) {
        const Real slope = score_slope(h, i, j), p = weight(h, i, j);
        for (int64_t c = 0; c < in.columns; ++c) {
          gk[c] += slope * in.q[in.entry(h, i) + c];
          gv[c] += p * upstream[in.entry(h, i) + c];
        }
      }
    });
  }

  MR_HD Real weight(const AttentionHead& h, int64_t i, int64_t j) const {
    return portable::exp(in.score(h, i, j) - log_sums[(h.first + i) * in.heads + h.head]);
  }
  MR_HD Real score_slope(const AttentionHead& h, int64_t i, int64_t j) const {
    const Real* const u = upstream.data + in.entry(h, i);
    const Real by_weight = in.dot(u, in.v.data + in.entry(h, j)) - in.dot(u, out.data + in.entry(h, i));
    return in.scale() * weight(h, i, j) * by_weight;
  }
};

}  // namespace mr
