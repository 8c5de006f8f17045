// Attention on the CPU: matrix products of a tile of a few rows with the whole list.
#include "kernels/models/attention_cpu.h"

#include <algorithm>
#include <vector>

#include "kernels/core/launch_cpu.h"
#include "kernels/core/scratch.h"
#include "kernels/models/rows.h"
#include "kernels/smooth/exponential_pairs.h"
#include "kernels/tensor/matmul.h"

namespace mr {
namespace cpu {
namespace {

constexpr int64_t tile_rows = 32;

/// A tile: rows first .. first + rows - 1 of one list and head, and two matrices of (tile rows) x (list rows).
template <class Real>
struct Tile {
  const AttentionInputs<Real>& in;
  AttentionHead head;
  int64_t first, rows, stride;
  Real *scores, *slopes;
  Kept<Real> kept{of_thread()};

  Tile(const AttentionInputs<Real>& inputs, const AttentionHead& of)
      : in(inputs), head(of), first(0), rows(0), stride((of.rows + pair_padding - 1) / pair_padding * pair_padding) {
    std::vector<Real>& memory = of_thread();
    const int64_t size = tile_rows * stride;
    if (static_cast<int64_t>(memory.size()) < 2 * size) memory.resize(static_cast<size_t>(2 * size));
    scores = memory.data();
    slopes = scores + size;
  }

  static std::vector<Real>& of_thread() {
    static constinit thread_local OfThread<std::vector<Real>> memory;
    return memory.get();
  }

  template <class F>
  void each(F f) {
    for (first = 0; first < head.rows; first += tile_rows) {
      check_interrupt();
      rows = std::min(tile_rows, head.rows - first);
      f();
    }
  }

  /// `mine` returns the rows of a tensor that belong to this tile, `all` the rows of the whole list.
  Factor<Real> mine(const Span<const Real>& x) const { return {x.data + in.entry(head, first), in.stride()}; }
  Factor<Real> all(const Span<const Real>& x, bool transposed) const {
    return {x.data + in.entry(head, 0), in.stride(), transposed};
  }
  /// Computes the inner products of each row of the tile in x with each row of the list in y, times `scale`. `to` gets
  /// one row per row of the tile, and one column per row of the list.
  void pairs(Real* to, const Span<const Real>& x, const Span<const Real>& y, Real scale) const {
    multiply(Product<Real>{mine(x), all(y, true), rows, head.rows, in.columns, to, stride, scale});
  }
  /// For each row of the tile, computes a weighted sum of the list's rows: to_tile = weights x_list.
  void combine(const Real* weights, const Span<const Real>& x, const Span<Real>& to) const {
    multiply(Product<Real>{
        {weights, stride}, all(x, false), rows, in.columns, head.rows, to.data + in.entry(head, first), in.stride()});
  }
  /// To each row of the list, adds a weighted sum of the tile's rows: to_list += transposed weights x_tile.
  void spread(const Real* weights, const Span<const Real>& x, const Span<Real>& to) const {
    multiply(Product<Real>{{weights, stride, true},
                           mine(x),
                           head.rows,
                           in.columns,
                           rows,
                           to.data + in.entry(head, 0),
                           in.stride(),
                           1,
                           first > 0});
  }
  int64_t log_sum(int64_t i) const { return (head.first + first + i) * in.heads + head.head; }
};

template <class Real>
struct AttentionByTiles : Attention<Real> {
  template <class Group>
  void operator()(const Group&, int64_t index) const {
    const auto& w = *this;
    Tile<Real> tile(w.in, w.in.at(index));
    tile.each([&] {
      tile.pairs(tile.scores, w.in.q, w.in.k, w.in.scale());
      for (int64_t i = 0; i < tile.rows; ++i) {
        w.log_sums[tile.log_sum(i)] = network_loops<Real>().softmax(tile.scores + i * tile.stride, tile.head.rows);
      }
      tile.combine(tile.scores, w.in.v, w.out);
    });
  }
};

template <class Real>
struct AttentionVjpByTiles : AttentionVjp<Real> {
  template <class Group>
  void operator()(const Group&, int64_t index) const {
    const auto& w = *this;
    const NetworkLoops<Real>& loops = network_loops<Real>();
    Tile<Real> tile(w.in, w.in.at(index));
    tile.each([&] {
      tile.pairs(tile.scores, w.in.q, w.in.k, w.in.scale());
      tile.pairs(tile.slopes, w.upstream, w.in.v, 1);
      for (int64_t i = 0; i < tile.rows; ++i) {
        Real* const row = tile.scores + i * tile.stride;
        const int64_t at = w.in.entry(tile.head, tile.first + i);
        loops.weights(row, tile.head.rows, w.log_sums[tile.log_sum(i)]);
        loops.score_slopes(row, tile.slopes + i * tile.stride, tile.head.rows,
                           w.in.dot(w.upstream.data + at, w.out.data + at), w.in.scale());
      }
      tile.combine(tile.slopes, w.in.k, w.by_q);
      tile.spread(tile.slopes, w.in.q, w.by_k);
      tile.spread(tile.scores, w.upstream, w.by_v);
    });
  }
};

template <class Real>
void attention(int64_t count, const Attention<Real>& work) {
  Backend::lists(count, AttentionByTiles<Real>{work});
}

template <class Real>
void attention_vjp(int64_t count, const AttentionVjp<Real>& work) {
  Backend::lists(count, AttentionVjpByTiles<Real>{work});
}

template <class Real>
void with_tiles(NetworkKernels<Real>& table) {
  table.attention = &attention<Real>;
  table.attention_vjp = &attention_vjp<Real>;
}

}  // namespace
}  // namespace cpu

MR_CPU_TABLE(NetworkKernels, float, cpu::with_tiles)
MR_CPU_TABLE(NetworkKernels, double, cpu::with_tiles)

}  // namespace mr
