// The place of a row among the rows of its list, by descending score. Tie rules for equal scores: mean: every order is
// equally likely, and metrics are expectations over these orders, so that constant scores gain nothing. stable: the
// lower row number first. worst: the less relevant row first. trec: the larger key (document id) first. All exact
// metrics start from placements, which are computed once.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/core/group.h"
#include "kernels/core/view.h"

namespace mr {

/// Maps a score's bits to a number that descends as the score ascends. -0 and 0 map to the same number.
MR_HD inline uint32_t falling_bits(float score) {
  const float one_zero = score + 0.0F;
  uint32_t bits = 0;
  std::memcpy(&bits, &one_zero, sizeof bits);
  return (bits >> 31) != 0 ? bits : ~bits & 0x7FFFFFFFU;
}
MR_HD inline uint64_t falling_bits(double score) {
  const double one_zero = score + 0.0;
  uint64_t bits = 0;
  std::memcpy(&bits, &one_zero, sizeof bits);
  return (bits >> 63) != 0 ? bits : ~bits & 0x7FFFFFFFFFFFFFFFULL;
}

enum class Ties : int8_t { mean, stable, worst, trec };

/// Where a row is ranked (its placement): how many rows are ranked above it, how many tied rows its run has (itself
/// included), how many of both are relevant, and how many rows of the run have a lower number. Under every tie rule but
/// `mean` a run is one row.
struct Placement {
  int32_t above = 0, tied = 1, relevant_above = 0, relevant_tied = 0, before = 0;
};

/// True if row j is ranked before row i under a tie rule that leaves no ties.
template <class Real>
struct Precedes {
  const Real* scores;
  const float* relevance;
  const int64_t* keys;
  Ties ties;
  MR_HD bool operator()(int64_t j, int64_t i) const {
    if (scores[j] != scores[i]) return scores[j] > scores[i];
    if (ties == Ties::worst && relevance[j] != relevance[i]) return relevance[j] < relevance[i];
    if (ties == Ties::trec && keys[j] != keys[i]) return keys[j] > keys[i];
    return j < i;
  }
};

/// Compares the names of two rows of a batch, a < b: below 0, a > b: above 0. Only the CPU can call it.
struct RowNames {
  const void* names = nullptr;
  int (*compare)(const void* names, int64_t a, int64_t b) = nullptr;
};

/// Computes the placements by counting, O(N^2) per list: the reference form. `keys` is used under the tie rule `trec`
/// only; the CPU's sort uses `names` instead if `keys` is null. `longest`: an upper bound of the longest list's rows,
/// from which a backend chooses its form.
template <class Real>
struct Place {
  Span<const Real> scores;
  Span<const float> relevance;
  Span<const int64_t> keys;
  Ragged lists;
  float threshold;
  Ties ties;
  Span<Placement> out;
  int64_t longest = 0;
  RowNames names = {};
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = lists.begin(list), n = lists.size(list);
    const Precedes<Real> precedes{scores.data + at, relevance.data + at, keys.data + (keys.data != nullptr ? at : 0),
                                  ties};
    group.each(n, [&](int64_t i) {
      Placement place{0, 0, 0, 0, 0};
      for (int64_t j = 0; j < n; ++j) {
        const bool tied = ties == Ties::mean ? precedes.scores[j] == precedes.scores[i] : j == i;
        const bool above = !tied && precedes(j, i);
        const int32_t relevant = precedes.relevance[j] >= threshold ? 1 : 0;
        place.above += above ? 1 : 0;
        place.tied += tied ? 1 : 0;
        place.before += tied && j < i ? 1 : 0;
        place.relevant_above += above ? relevant : 0;
        place.relevant_tied += tied ? relevant : 0;
      }
      out[at + i] = place;
    });
  }
};

/// Computes the mean rank of each row: the middle of its run of tied rows.
template <class Real>
struct RankOf {
  Span<const Placement> places;
  Span<Real> out;
  MR_HD void operator()(int64_t i) const {
    out[i] = static_cast<Real>(places[i].above + 0.5 * (static_cast<double>(places[i].tied) + 1));
  }
};

/// Computes the rows by rank: order[rank] = row, counted from 1 in the batch, or in the list if `within`. Of tied rows
/// the lower number is first.
template <class Real>
struct OrderOf {
  Span<const Placement> places;
  Ragged lists;
  Span<int64_t> order;
  bool within = false;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = lists.begin(list);
    group.each(lists.size(list), [&](int64_t i) {
      order[at + places[at + i].above + places[at + i].before] = (within ? 0 : at) + i + 1;
    });
  }
};

}  // namespace mr
