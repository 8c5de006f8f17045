// The CPU's tables of exact metrics. They compute the rows' placements (order.h) by sorting.
#include <algorithm>
#include <vector>

#include "kernels/core/launch_cpu.h"
#include "kernels/core/patient.h"
#include "kernels/core/scratch.h"
#include "kernels/ranking/ranks.h"
#include "kernels/ranking/rows.h"

namespace mr {
namespace cpu {
namespace {

/// Sorts keys in ascending order. Two radix passes sort by the upper 16 bits. Few keys share these bits, and std::sort
/// sorts each run of keys that do.
void radix_sort(std::vector<uint64_t>& keys) {
  static constinit thread_local OfThread<std::vector<uint64_t>> the_other;
  std::vector<uint64_t>& other = the_other.get();
  const Kept kept(other);
  other.resize(keys.size());
  uint32_t counts[2][256] = {};
  for (const uint64_t key : keys) {
    ++counts[0][(key >> 48) & 255];
    ++counts[1][key >> 56];
  }
  for (int byte = 0; byte < 2; ++byte) {
    const int shift = 48 + 8 * byte;
    uint32_t at = 0;
    for (uint32_t& count : counts[byte]) {
      const uint32_t here = count;
      count = at;
      at += here;
    }
    for (const uint64_t key : keys) other[counts[byte][(key >> shift) & 255]++] = key;
    keys.swap(other);
  }
  for (auto first = keys.begin(); first != keys.end();) {
    auto last = first + 1;
    while (last != keys.end() && *last >> 48 == *first >> 48) ++last;
    if (last - first > 1) std::sort(first, last);
    first = last;
  }
}

/// Sorts rows by descending score, equal scores by position, through 64-bit keys that contain the score's bits, the row
/// number and the relevance.
struct PackedRows {
  const float* scores;
  const float* relevance;
  float threshold;
  std::vector<uint64_t>& keys;

  void sort(int64_t n) {
    keys.resize(static_cast<size_t>(n));
    if (n <= rank_loops().most) {
      static constinit thread_local OfThread<std::vector<int32_t>> the_places;
      // `places`: for each row of a short list, its position by descending score
      std::vector<int32_t>& places = the_places.get();
      places.resize(keys.size());
      rank_loops().count(scores, n, places.data());
      for (int64_t i = 0; i < n; ++i) keys[places[i]] = packed(i);
    } else {
      for (int64_t i = 0; i < n; ++i) keys[i] = packed(i);
      radix_sort(keys);
    }
  }
  uint64_t packed(int64_t i) const {
    const uint64_t low = static_cast<uint64_t>(i) << 1 | (relevance[i] >= threshold ? 1U : 0U);
    return static_cast<uint64_t>(falling_bits(scores[i])) << 32 | low;
  }
};

/// Sorts the rows of a list by rank, for any tie rule, so that placements can be computed from the first rank to the
/// last. Rows are sorted by their score rounded to float32 first, then rows with equal rounded scores by the tie rule
/// and, if scores are float64, by the whole score.
template <class Real>
struct SortedRows {
  const Precedes<Real>& precedes;
  float threshold;
  std::vector<uint64_t>& keys;
  RowNames names;
  int64_t first_row;  // of the list, in the batch

  void sort(int64_t n) {
    if constexpr (sizeof(Real) == sizeof(float)) {
      PackedRows{precedes.scores, precedes.relevance, threshold, keys}.sort(n);
      if (precedes.ties == Ties::mean || precedes.ties == Ties::stable) return;
    } else {
      static constinit thread_local OfThread<std::vector<float>> the_rounded;
      std::vector<float>& rounded = the_rounded.get();
      const Kept kept(rounded);
      rounded.resize(static_cast<size_t>(n));
      for (int64_t i = 0; i < n; ++i) rounded[i] = static_cast<float>(precedes.scores[i]);
      PackedRows{rounded.data(), precedes.relevance, threshold, keys}.sort(n);
    }
    for (auto first = keys.begin(); first != keys.end();) {
      auto last = first + 1;
      while (last != keys.end() && *last >> 32 == *first >> 32) ++last;
      if (last - first > 1)
        std::sort(first, last, patient([&](uint64_t a, uint64_t b) { return is_before(row_of(a), row_of(b)); }));
      first = last;
    }
  }
  bool is_before(int64_t a, int64_t b) const {
    if (precedes.ties != Ties::trec || precedes.keys != nullptr || precedes.scores[a] != precedes.scores[b])
      return precedes(a, b);
    const int order = names.compare(names.names, first_row + a, first_row + b);
    return order != 0 ? order > 0 : a < b;
  }
  static int32_t row_of(uint64_t key) { return static_cast<int32_t>((key & 0xFFFFFFFFU) >> 1); }
  int32_t row(int64_t place) const { return row_of(keys[place]); }
  int32_t relevant(int64_t place) const { return static_cast<int32_t>(keys[place] & 1); }
  bool tied(int64_t a, int64_t b) const {
    if constexpr (sizeof(Real) == sizeof(float)) return keys[a] >> 32 == keys[b] >> 32;
    return precedes.scores[row(a)] == precedes.scores[row(b)];
  }
};

template <class Real>
struct PlaceBySorting : Place<Real> {
  template <class Group>
  void operator()(const Group&, int64_t list) const {
    const Place<Real>& w = *this;
    const int64_t at = w.lists.begin(list);
    const Precedes<Real> precedes{w.scores.data + at, w.relevance.data + at,
                                  w.keys.data != nullptr ? w.keys.data + at : nullptr, w.ties};
    static constinit thread_local OfThread<std::vector<uint64_t>> the_keys;
    std::vector<uint64_t>& keys = the_keys.get();
    const Kept kept(keys);
    place(SortedRows<Real>{precedes, w.threshold, keys, w.names, at}, list);
  }

 private:
  void place(SortedRows<Real> rows, int64_t list) const {
    const int64_t n = this->lists.size(list);
    Placement* const out = this->out.data + this->lists.begin(list);
    rows.sort(n);
    int32_t relevant_above = 0;
    for (int64_t first = 0, last = 0; first < n; first = last) {
      int32_t relevant = 0;
      do {
        relevant += rows.relevant(last++);
      } while (this->ties == Ties::mean && last < n && rows.tied(first, last));
      Placement place{static_cast<int32_t>(first), static_cast<int32_t>(last - first), relevant_above, relevant, 0};
      for (int64_t r = first; r < last; ++r, ++place.before) out[rows.row(r)] = place;
      relevant_above += relevant;
    }
  }
};

template <class Real>
void place(int64_t count, const Place<Real>& work) {
  Backend::lists(count, PlaceBySorting<Real>{work});
}

/// Computes wrongly ordered pairs: for each row in ranked order, the number of rows of lower grade above it. O(N log N)
/// per list.
template <class Real>
struct WrongPairsByRank : WrongPairs<Real> {
  template <class Group>
  void operator()(const Group& group, int64_t list) const {
    const MetricViews<Real>& v = this->v;
    static constinit thread_local OfThread<std::vector<float>> the_grades;
    static constinit thread_local OfThread<std::vector<int32_t>> the_order, the_above;
    std::vector<float>& grades = the_grades.get();
    std::vector<int32_t>&order = the_order.get(), &above = the_above.get();
    const Kept kept(grades, order, above);
    const int64_t at = v.lists.begin(list), n = v.lists.size(list);
    const float* const own = v.relevance.data + at;
    const Placement* const places = v.places.data + at;
    grades.assign(own, own + n);
    std::sort(grades.begin(), grades.end());
    grades.erase(std::unique(grades.begin(), grades.end()), grades.end());
    order.resize(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) order[places[i].above + places[i].before] = static_cast<int32_t>(i);
    above.assign(grades.size() + 1, 0);  // Fenwick tree by grade: number of rows above with that grade
    const auto level = [&](int64_t i) {
      return std::lower_bound(grades.begin(), grades.end(), own[i]) - grades.begin();
    };
    const auto lower_above = [&](int64_t i) {
      double rows = 0;
      for (int64_t l = level(i); l > 0; l -= l & -l) rows += above[l];
      return rows;
    };
    double wrong = 0;
    for (int64_t first = 0, last = 0; first < n; first = last) {
      last = first + places[order[first]].tied;
      for (int64_t r = first; r < last; ++r) wrong += 0.5 * lower_above(order[r]);
      for (int64_t r = first; r < last; ++r) {
        for (int64_t l = level(order[r]) + 1; l < static_cast<int64_t>(above.size()); l += l & -l) ++above[l];
      }
      for (int64_t r = first; r < last; ++r) wrong += 0.5 * lower_above(order[r]);
    }
    v.put(group, list, v.count(list) == 0 ? v.empty : wrong);
  }
};

template <class Real>
void wrong_pairs(int64_t count, const WrongPairs<Real>& work) {
  Backend::lists(count, WrongPairsByRank<Real>{work});
}

template <class Real>
void with_fast_forms(MetricKernels<Real>& table) {
  table.place = &place<Real>;
  table.wrong_pairs = &wrong_pairs<Real>;
}

}  // namespace
}  // namespace cpu

MR_CPU_TABLE(MetricKernels, float, cpu::with_fast_forms)
MR_CPU_TABLE(MetricKernels, double, cpu::with_fast_forms)

}  // namespace mr
