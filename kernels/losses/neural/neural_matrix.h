// Holds the relaxed permutation matrix of a list (neural_sort.h) on the CPU. If a list is not too long, the entries of
// its matrix are stored while the list is computed: once by rows and once by columns, because the two differ in
// rounding. For longer lists, an entry is computed whenever it is read. Stored and computed entries have the same bits.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/core/scratch.h"
#include "kernels/losses/neural/neural_ndcg.h"
#include "kernels/losses/neural/neural_sums.h"

namespace mr::cpu {

/// number of rows of the longest list whose matrix is stored, in 16 MB
constexpr int64_t most_rows_kept = 1024;

class VectorMatrix {
 public:
  /// `rows` and `columns` are memory for the matrix by rows and by columns. Null: entries are not stored.
  VectorMatrix(double* rows, double* columns, int64_t stride) : rows_(rows), columns_(columns), stride_(stride) {}

  template <class Group>
  void prepare(const Group& group, const NeuralVectors& x) const {
    const NeuralSumLoops& loops = neural_sum_loops();
    blocks(group, x.n, [&](int64_t first) {
      loops.distances(x.f, first, x.n, x.away + first);
      for (int64_t j = first; j < first + block; ++j) x.away[j] /= x.tau;
    });
    blocks(group, x.n, [&](int64_t first) {
      double tops[block], totals[block];
      loops.row_sums(x.steps, x.f, x.away, first, x.n, tops, totals);
      for (int64_t k = 0; k < block; ++k) x.normaliser[first + k] = tops[k] + portable::log(totals[k]);
    });
    if (rows_ == nullptr) return;
    group.each(x.n, [&](int64_t i) {
      loops.entries(x.f, x.steps[i], x.away, x.normaliser[i], x.n, rows_ + i * stride_);
      loops.entries(x.steps, x.f[i], x.normaliser, x.away[i], x.n, columns_ + i * stride_);
    });
  }

  template <int count, class Group, class Then>
  void over_rows(const Group& group, const NeuralVectors& x, const double* const (&weights)[count], Then then) const {
    if (rows_ != nullptr) return kept<count>(group, x.n, rows_, weights, then);
    group.each(x.n, [&](int64_t k) {
      double sums[count];
      neural_sum_loops().add(x.f, x.steps[k], x.away, x.normaliser[k], weights, count, x.n, sums);
      then(k, sums);
    });
  }

  template <int count, class Group, class Then>
  void over_columns(const Group& group, const NeuralVectors& x, const double* const (&weights)[count],
                    Then then) const {
    if (columns_ != nullptr) return kept<count>(group, x.n, columns_, weights, then);
    group.each(x.n, [&](int64_t j) {
      double sums[count];
      neural_sum_loops().add(x.steps, x.f[j], x.normaliser, x.away[j], weights, count, x.n, sums);
      then(j, sums);
    });
  }

  template <class Group, class Then>
  void over_signs(const Group& group, const NeuralVectors& x, const double* by, Then then) const {
    blocks(group, x.n, [&](int64_t first) {
      double sums[block];
      neural_sum_loops().signs(x.f, by, first, x.n, sums);
      for (int64_t j = first; j < std::min(first + block, x.n); ++j) then(j, sums[j - first]);
    });
  }

 private:
  static constexpr int64_t block = NeuralSumLoops::block;

  template <class Group, class F>
  static void blocks(const Group& group, int64_t n, F f) {
    group.each((n + block - 1) / block, [&](int64_t i) { f(i * block); });
  }

  template <int count, class Group, class Then>
  void kept(const Group& group, int64_t n, const double* entries, const double* const (&weights)[count],
            Then then) const {
    static_assert(count <= NeuralSumLoops::most);
    constexpr int64_t together = NeuralSumLoops::together;
    group.each((n + together - 1) / together, [&](int64_t i) {
      double sums[together][count];
      neural_sum_loops().weigh(entries + i * together * stride_, weights, count, stride_, sums[0]);
      for (int64_t r = 0; r < together && i * together + r < n; ++r) then(i * together + r, sums[r]);
    });
  }

  double *rows_, *columns_;
  int64_t stride_;
};

/// Memory of one thread for the matrix of a list.
struct NeuralScratch {
  std::vector<double> vectors, rows, columns;
  auto in_use() { return Kept(vectors, rows, columns); }

  /// Makes room for `slots` vectors of n numbers, padded with 0, and for their matrix. Returns the distance between
  /// vectors.
  int64_t resize(int64_t slots, int64_t n) {
    const int64_t stride = filled_up(n, NeuralSumLoops::block);
    vectors.resize(static_cast<size_t>(slots * stride));
    for (int64_t slot = 0; slot < slots; ++slot)
      std::fill(vectors.begin() + slot * stride + n, vectors.begin() + (slot + 1) * stride, 0.0);
    const int64_t room = keeps(n) ? filled_up(n, NeuralSumLoops::together) * stride : 0;
    for (auto* each : {&rows, &columns})
      if (static_cast<int64_t>(each->size()) < room) each->resize(static_cast<size_t>(room));
    return stride;
  }
  VectorMatrix matrix(int64_t n, int64_t stride) {
    return keeps(n) ? VectorMatrix(rows.data(), columns.data(), stride) : VectorMatrix(nullptr, nullptr, stride);
  }

 private:
  static bool keeps(int64_t n) { return n <= most_rows_kept; }
  static int64_t filled_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }
};

}  // namespace mr::cpu
