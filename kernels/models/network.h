// Layer normalisation (Ba et al. 2016) and dropout (Srivastava et al. 2014).
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/group.h"
#include "kernels/core/rng.h"
#include "kernels/core/view.h"

namespace mr {

/// Computes y = gain (x - mean) / sqrt(variance + epsilon) + bias over the columns of each row; keeps mean and 1 /
/// sqrt(...).
template <class Real>
struct LayerNorm {
  Span<const Real> x, gain, bias;
  int64_t width;
  double epsilon;
  Span<Real> y, mean, inverse;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t row) const {
    const Real* const of = x.data + row * width;
    const double n = static_cast<double>(width);
    const double centre = group.sum(width, [&](int64_t c) { return of[c]; }) / n;
    const double squares = group.sum(width, [&](int64_t c) { return (of[c] - centre) * (of[c] - centre); });
    const double scale = 1 / std::sqrt(squares / n + epsilon);
    group.each(width, [&](int64_t c) {
      y[row * width + c] = static_cast<Real>((of[c] - centre) * scale * gain[c] + bias[c]);
    });
    group.each(1, [&](int64_t) {
      mean[row] = static_cast<Real>(centre);
      inverse[row] = static_cast<Real>(scale);
    });
  }
};

template <class Real>
struct LayerNormViews {
  Span<const Real> x, gain, mean, inverse, upstream;
  int64_t width;
  MR_HD Real normal(int64_t row, int64_t c) const { return (x[row * width + c] - mean[row]) * inverse[row]; }
};

/// Computes the derivative of layer normalisation by its input x: (h - mean(h) - z mean(h z)) / sqrt(variance +
/// epsilon), where z is the normalised row and h is the upstream derivative times `gain`.
template <class Real>
struct LayerNormVjp {
  LayerNormViews<Real> v;
  Span<Real> by_x;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t row) const {
    const int64_t at = row * v.width;
    const double n = static_cast<double>(v.width);
    const auto h = [&](int64_t c) { return static_cast<double>(v.upstream[at + c]) * v.gain[c]; };
    const double mean_h = group.sum(v.width, h) / n;
    const double mean_hz = group.sum(v.width, [&](int64_t c) { return h(c) * v.normal(row, c); }) / n;
    group.each(v.width, [&](int64_t c) {
      by_x[at + c] = static_cast<Real>((h(c) - mean_h - v.normal(row, c) * mean_hz) * v.inverse[row]);
    });
  }
};

/// Sums the derivatives of layer normalisation by `gain` and `bias` over ranges of `rows_per_piece` rows. Each range
/// writes one row of `by_gain` and one of `by_bias`.
template <class Real>
struct LayerNormSums {
  static constexpr int64_t rows_per_piece = 256;
  LayerNormViews<Real> v;
  Span<Real> by_gain, by_bias;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t piece) const {
    const int64_t first = piece * rows_per_piece, rows = v.mean.size, end = first + rows_per_piece;
    group.each(v.width, [&](int64_t c) {
      double gain = 0, bias = 0;
      for (int64_t row = first; row < end && row < rows; ++row) {
        const Real u = v.upstream[row * v.width + c];
        gain += u * v.normal(row, c);
        bias += u;
      }
      by_gain[piece * v.width + c] = static_cast<Real>(gain);
      by_bias[piece * v.width + c] = static_cast<Real>(bias);
    });
  }
};

/// Dropout: every entry is 0 with probability `rate`, else divided by 1 - rate. Called once for every four entries,
/// which use one block of random bits. The backward pass applies the same function to the upstream derivative.
template <class Real>
struct Dropout {
  Span<const Real> x;
  RandomKey key;
  double rate;
  Span<Real> out;
  MR_HD void operator()(int64_t block) const {
    const Random128 bits = philox(key, static_cast<uint64_t>(block));
    const Real kept = static_cast<Real>(1 / (1 - rate));
    for (int64_t part = 0; part < 4 && block * 4 + part < x.size; ++part) {
      const int64_t i = block * 4 + part;
      out[i] = bits.word[part] * 0x1p-32 < rate ? Real(0) : x[i] * kept;
    }
  }
};

}  // namespace mr
