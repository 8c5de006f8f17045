// Matrix products c = a b over vectors of MR_VECTOR_BYTES, inside namespace MR_SIMD; included by matmul_*.cpp only.
//
// An entry of c is a sum over the inner index k. It is divided into blocks of `block` terms, each added from first to
// last, with fused multiply-add where the processor has it. If b has few columns that are contiguous along k, the sum
// runs in lanes (lane_sums.h) instead. So the bits do not depend on the register size or on how the rows of c are
// divided. Columns of b are read in place if they are adjacent in memory, or else from a packed copy of a few of them.
#include "kernels/core/simd/lane_sums.h"
#include "kernels/core/simd/lanes.h"
#include "kernels/tensor/matmul.h"

namespace mr::cpu::MR_SIMD {
namespace {

constexpr int64_t block = product_block;
/// Size of the tile of c that is held in registers while terms are added: `tile_rows` rows of `tile_vectors` vectors.
/// These are 16 sums with 64-byte vectors (32 registers), else 12 (16 registers).
constexpr int64_t tile_rows = MR_VECTOR_BYTES == 64 ? 8 : 6, tile_vectors = 2;
/// number of vectors of each row of c that are held in registers if c has only one or two rows
constexpr int64_t long_vectors = 6;
/// Up to this number of columns of b, each contiguous in memory, a packed copy of them costs more than it saves.
constexpr int64_t few_columns = 4;

/// A part of a matrix product c = a b: at most `block` values of the inner index k. Entry (i, k) of matrix a is a[i *
/// row + k * column]; rows of b are `stride` entries apart.
template <class Real>
struct Block {
  const Real* a;
  int64_t row, column;
  const Real* b;
  int64_t stride, k;
  Real* c;
  int64_t c_stride;
  Real scale;
  bool add;

  Block at(int64_t i) const {
    Block below = *this;
    below.a += i * row;
    below.c += i * c_stride;
    return below;
  }
};

template <class Real>
void put(Real* c, typename Lanes<Real>::Vector v, int64_t n, bool add) {
  using L = Lanes<Real>;
  if (n >= L::count) return L::store(c, add ? L::load(c) + v : v);
  Real lanes[L::count];
  L::store(lanes, v);
  for (int64_t j = 0; j < n; ++j) c[j] = add ? c[j] + lanes[j] : lanes[j];
}

/// Computes a tile of c, held in registers: `rows` rows of `vectors` vectors. Only the first n columns are written.
template <class Real, int rows, int vectors>
void tile(const Block<Real>& block_of, int64_t n) {
  using L = Lanes<Real>;
  const Block<Real> w = block_of;
  // GCC writes zeros to memory for `= {}`, for each tile
  typename L::Vector sum[rows][vectors];
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) sum[i][v] = L::all(0);
  }
  for (int64_t k = 0; k < w.k; ++k) {
    typename L::Vector b[vectors];
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) b[v] = L::load(w.b + k * w.stride + v * L::count);
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) {
      const auto a = L::all(w.a[i * w.row + k * w.column]);
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v) sum[i][v] = multiply_add(a, b[v], sum[i][v]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v)
      put<Real>(w.c + i * w.c_stride + v * L::count, w.scale * sum[i][v], n - v * L::count, w.add);
  }
}

/// Computes the last m rows of a product, which are at most `rows` and too few for a whole tile.
template <class Real, int rows, int vectors>
void last_rows(const Block<Real>& w, int64_t m, int64_t n) {
  if constexpr (rows > 0) {
    if (m == rows) return tile<Real, rows, vectors>(w, n);
    last_rows<Real, rows - 1, vectors>(w, m, n);
  }
}

template <class Real, int vectors>
void all_rows(const Block<Real>& w, int64_t m, int64_t n) {
  int64_t i = 0;
  for (; i + tile_rows <= m; i += tile_rows) tile<Real, tile_rows, vectors>(w.at(i), n);
  last_rows<Real, tile_rows - 1, vectors>(w.at(i), m - i, n);
}

/// A packed copy of some columns of matrix b, stored row by row and padded with zeros to whole vectors.
template <class Real>
struct Panel {
  static constexpr int64_t width = tile_vectors * Lanes<Real>::count;
  alignas(64) Real of[block * width];

  void copy(const Factor<Real>& b, int64_t k, int64_t depth, int64_t column, int64_t columns) {
    if (columns < width) fill(of, depth * width, Real(0));
    if (b.transposed) {
      for (int64_t j = 0; j < columns; ++j) {
        const Real* const from = b.data + (column + j) * b.stride + k;
        for (int64_t d = 0; d < depth; ++d) of[d * width + j] = from[d];
      }
    } else {
      for (int64_t d = 0; d < depth; ++d) {
        const Real* const from = b.data + (k + d) * b.stride + column;
        for (int64_t j = 0; j < columns; ++j) of[d * width + j] = from[j];
      }
    }
  }
};

/// Adds the terms k .. k + depth - 1 of the inner dimension to all entries of the product.
template <class Real>
void add_block(const Product<Real>& p, int64_t k, int64_t depth) {
  using L = Lanes<Real>;
  const int64_t row = p.a.transposed ? 1 : p.a.stride, column = p.a.transposed ? p.a.stride : 1;
  Block<Real> w{p.a.data + k * column, row, column, nullptr, 0, depth, nullptr, p.stride, p.scale, p.add || k > 0};
  int64_t j = 0;
  const auto in_place = [&](int64_t columns) {
    w.b = p.b.data + k * p.b.stride + j;
    w.stride = p.b.stride;
    w.c = p.c + j;
    j += columns;
  };
  if (!p.b.transposed && p.m <= 2) {
    constexpr int64_t width = long_vectors * L::count;
    while (j + width <= p.n) {
      in_place(width);
      last_rows<Real, 2, long_vectors>(w, p.m, width);
    }
  }
  while (!p.b.transposed && j + Panel<Real>::width <= p.n) {
    in_place(Panel<Real>::width);
    all_rows<Real, tile_vectors>(w, p.m, Panel<Real>::width);
  }
  Panel<Real> panel;
  for (; j < p.n; j += Panel<Real>::width) {
    const int64_t columns = smaller(Panel<Real>::width, p.n - j);
    panel.copy(p.b, k, depth, j, columns);
    w.b = panel.of;
    w.stride = Panel<Real>::width;
    w.c = p.c + j;
    if (columns <= L::count) {
      all_rows<Real, 1>(w, p.m, columns);
    } else {
      all_rows<Real, tile_vectors>(w, p.m, columns);
    }
  }
}

template <class Real>
void multiply_few_columns(const Product<Real>& p) {
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) {
      Real& c = p.c[i * p.stride + j];
      const Real sum = p.scale * inner_product(p.a.data + i * p.a.stride, p.b.data + j * p.b.stride, p.k);
      c = p.add ? c + sum : sum;
    }
  }
}

template <class Real>
void multiply(const Product<Real>& product) {
  Product<Real> p = product;
  // A matrix with a single column of stride 1 has the same bytes as its transposed matrix.
  if (p.n == 1 && !p.b.transposed && p.b.stride == 1) p.b.transposed = true;
  if (p.n <= few_columns && p.b.transposed && !p.a.transposed) return multiply_few_columns(p);
  if (p.k == 0) add_block(p, 0, 0);
  for (int64_t k = 0; k < p.k; k += block) add_block(p, k, smaller(block, p.k - k));
}

}  // namespace
}  // namespace mr::cpu::MR_SIMD

namespace mr::cpu {

template <>
ProductLoops<float> loops_of<ProductLoops<float>, Simd::MR_SIMD>() {
  return {&MR_SIMD::multiply<float>};
}
template <>
ProductLoops<double> loops_of<ProductLoops<double>, Simd::MR_SIMD>() {
  return {&MR_SIMD::multiply<double>};
}

}  // namespace mr::cpu
