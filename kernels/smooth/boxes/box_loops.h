// The loops of box.h over vectors of MR_VECTOR_BYTES, inside namespace MR_SIMD; included by box_*.cpp only.
#include "kernels/core/simd/lane_sums.h"
#include "kernels/core/simd/lanes.h"
#include "kernels/smooth/boxes/box.h"

namespace mr::cpu::MR_SIMD {
namespace {

// number of floats that are added before the sum is added to a double, so that long sums stay accurate
constexpr int64_t flush = 2048;

/// A vector with as many Reals as a vector of doubles has lanes.
template <class Real>
struct Part {
  static constexpr int64_t count = Lanes<double>::count;
  typedef Real Vector __attribute__((vector_size(count * sizeof(Real))));  // NOLINT: the attribute needs typedef

  static Lanes<double>::Vector load(const Real* from) {
    Vector v;
    std::memcpy(&v, from, sizeof v);
    return __builtin_convertvector(v, Lanes<double>::Vector);
  }
  static void store(Real* to, Lanes<double>::Vector wide) {
    const auto v = __builtin_convertvector(wide, Vector);
    std::memcpy(to, &v, sizeof v);
  }
};

/// Calls one(s, i) for `Part<Real>::count` scores s at a time, of which the first is score i, and at the end for a
/// padded copy of the rest.
template <class Real, class F>
void for_parts(const Real* s, int64_t n, F one) {
  constexpr int64_t count = Part<Real>::count;
  int64_t i = 0;
  for (; i + count <= n; i += count) one(s + i, i, count);
  if (i == n) return;
  Real rest[count] = {};
  for (int64_t j = i; j < n; ++j) rest[j - i] = s[j];
  one(rest, i, n - i);
}

template <class Real>
void assign(const Real* s, int64_t n, const BoxGrid& grid, int32_t other, int32_t* keys, Real* u) {
  // adding `round` and subtracting it again rounds to an integer
  constexpr double width = BoxShape<Real>::width, round = 0x1.8p52;
  using Wide = Lanes<double>::Vector;
  const auto wide = &Lanes<double>::all;
  const Wide shift = Lanes<double>::all(grid.shift), least = Lanes<double>::all(grid.first),
             most = Lanes<double>::all(grid.first + grid.last);
  for_parts(s, n, [&](const Real* from, int64_t i, int64_t count) {
    const Wide x = grid.steepness * (Part<Real>::load(from) - shift);
    Wide box = multiply_add(x, wide(1 / width), wide(round)) - round;
    box = box >= least ? box : least;  // NaN is put into the lowest box, because every row must have an existing box
    box = box <= most ? box : most;
    const Wide at = multiply_add(box, wide(-width), x) * (2 / width), key = (box - least) * 2 + double(other);
    Real place_of[Part<Real>::count];
    int32_t key_of[Part<Real>::count];
    Part<Real>::store(count == Part<Real>::count ? u + i : place_of, at);
    Part<int32_t>::store(count == Part<Real>::count ? keys + i : key_of, key);
    for (int64_t j = 0; count < Part<Real>::count && j < count; ++j) {
      u[i + j] = place_of[j];
      keys[i + j] = key_of[j];
    }
  });
}

template <class Real>
void centre(const Real* s, int64_t n, const BoxGrid& grid, Real* u) {
  const double scale = grid.steepness * (2 / BoxShape<Real>::width);
  for_parts(s, n, [&](const Real* from, int64_t i, int64_t count) {
    Real at[Part<Real>::count];
    Part<Real>::store(at, (Part<Real>::load(from) - grid.shift) * scale);
    for (int64_t j = 0; j < count; ++j) u[i + j] = at[j];
  });
}

/// Calls term(m, T_m(u)) for m < terms, with T_m the Chebyshev polynomials.
template <class V, class F>
inline __attribute__((always_inline)) void chebyshev(V u, int terms, F term) {
  V before = u - u + 1, now = u;
  const V twice = u + u;
  term(0, before);
  term(1, now);
#pragma GCC unroll 16
  for (int m = 2; m < terms; ++m) {
    const V next = multiply_add(twice, now, -before);
    before = now;
    now = next;
    term(m, now);
  }
}

/// Adds the Chebyshev moments of at most `flush` rows to q. More rows at once would lose digits in sums of floats.
template <class Real, bool weighted>
void add_moments(const Real* u, const Real* w, int64_t n, double* q) {
  using L = Lanes<Real>;
  using V = typename L::Vector;
  constexpr int terms = BoxShape<Real>::terms;
  const int64_t whole = n / L::width * L::width;
  Real rest[L::width] = {}, rest_weights[L::width] = {};
  for (int64_t i = whole; i < n; ++i) {
    rest[i - whole] = u[i];
    rest_weights[i - whole] = weighted ? w[i] : Real(1);
  }
  V total[terms][L::parts];
  for (int64_t p = 0; p < L::parts; ++p) {
    V sum[terms] = {};
    const int64_t first = p * L::count;
    for (int64_t i = first; i < whole; i += L::width) {
      const V weight = weighted ? L::load(w + i) : V{};
      chebyshev(L::load(u + i), terms,
                [&](int m, V t) { sum[m] = weighted ? multiply_add(weight, t, sum[m]) : sum[m] + t; });
    }
    if (whole + first < n) {
      const V weight = L::load(rest_weights + first);
      chebyshev(L::load(rest + first), terms, [&](int m, V t) { sum[m] = multiply_add(weight, t, sum[m]); });
    }
    for (int m = 0; m < terms; ++m) total[m][p] = sum[m];
  }
  for (int m = 0; m < terms; ++m) q[m] += sum_of(total[m]);
}

template <class Real>
void moments(const Real* u, const Real* w, int64_t n, double* q) {
  fill(q, BoxShape<Real>::padded, 0.0);
  for (int64_t from = 0; from < n; from += flush) {
    const int64_t length = smaller(flush, n - from);
    if (w != nullptr) {
      add_moments<Real, true>(u + from, w + from, length, q);
    } else {
      add_moments<Real, false>(u + from, nullptr, length, q);
    }
  }
}

template <class Real, int weights>
void translate_box(const BoxField<Real>& field, int64_t target) {
  using L = Lanes<Real>;
  constexpr int terms = BoxShape<Real>::terms, padded = BoxShape<Real>::padded;
  // number of vectors of the result that are summed in one pass, so few that all running sums fit into registers
  constexpr int vectors = 2 * L::count <= padded ? 2 : 1;
  // number of independent sums that run at a time, so that an addition need not wait for the one before
  constexpr int chains = 4 / weights;
  for (int from = 0; from < padded; from += vectors * L::count) {
    typename L::Vector total[weights][chains][vectors] = {};
    for (int64_t source = field.near_first[target]; source < field.near_last[target]; ++source) {
      const int64_t apart = field.index[source] - field.index[target];
      const Real *const table = field.table + apart * terms * padded + from, *const q =
                                                                                 field.q + source * weights * padded;
#pragma GCC unroll 16
      for (int m = 0; m < terms; ++m) {
        for (int v = 0; v < vectors; ++v) {
          const auto row = L::load(table + m * padded + v * L::count);
          for (int w = 0; w < weights; ++w)
            total[w][m % chains][v] = multiply_add(row, L::all(q[w * padded + m]), total[w][m % chains][v]);
        }
      }
    }
    for (int w = 0; w < weights; ++w) {
      for (int v = 0; v < vectors; ++v) {
        auto sum = total[w][0][v];
        for (int c = 1; c < chains; ++c) sum += total[w][c][v];
        L::store(field.expansion + (target * weights + w) * padded + from + v * L::count, sum);
      }
    }
  }
}

/// Pointers to the moments q of all boxes near a group of `targets` adjacent boxes, indexed by box number. Where there
/// is no box, the pointer is to zeros.
template <class Real, int targets>
struct Near {
  static constexpr int most = 2 * BoxShape<Real>::max_reach + targets;
  static constexpr Real zeros[box_weights * BoxShape<Real>::padded] = {};
  const Real* q[most];
  int64_t count;  // number of boxes whose moments one target box adds up

  Near(const BoxField<Real>& field, int weights, int64_t target) {
    const int64_t lowest = field.index[target] - field.reach;
    count = 2 * field.reach + 1;
    for (int64_t i = 0; i < count + targets - 1; ++i) q[i] = zeros;
    for (int64_t box = field.near_first[target]; box < field.near_last[target + targets - 1]; ++box) {
      q[field.index[box] - lowest] = field.q + box * weights * BoxShape<Real>::padded;
    }
  }
  bool none(int64_t at) const {
    for (int g = 0; g < targets; ++g) {
      if (q[at + g] != zeros) return false;
    }
    return true;
  }
};

/// Computes the expansions of `targets` boxes (intervals of scores) with consecutive box numbers together, from the
/// moments of their near boxes. Each coefficient of field.table is loaded once for all of them.
template <class Real, int weights, int targets>
void translate_boxes(const BoxField<Real>& field, int64_t target) {
  using L = Lanes<Real>;
  constexpr int terms = BoxShape<Real>::terms, padded = BoxShape<Real>::padded;
  constexpr int vectors = 2 * L::count <= padded ? 2 : 1;
  const Near<Real, targets> near(field, weights, target);
  for (int from = 0; from < padded; from += vectors * L::count) {
    typename L::Vector total[weights][targets][vectors] = {};
    for (int64_t source = 0; source < near.count; ++source) {
      if (near.none(source)) continue;
      const Real* const table = field.table + (source - field.reach) * terms * padded + from;
      const Real* q[targets];
      for (int g = 0; g < targets; ++g) q[g] = near.q[source + g];
      for (int m = 0; m < terms; ++m) {
        for (int v = 0; v < vectors; ++v) {
          const auto row = L::load(table + m * padded + v * L::count);
          for (int g = 0; g < targets; ++g) {
            for (int w = 0; w < weights; ++w)
              total[w][g][v] = multiply_add(row, L::all(q[g][w * padded + m]), total[w][g][v]);
          }
        }
      }
    }
    for (int g = 0; g < targets; ++g) {
      for (int w = 0; w < weights; ++w) {
        for (int v = 0; v < vectors; ++v) {
          L::store(field.expansion + ((target + g) * weights + w) * padded + from + v * L::count, total[w][g][v]);
        }
      }
    }
  }
}

template <class Real, int weights>
void translate_range(const BoxField<Real>& field, int64_t first, int64_t last) {
  constexpr int group = 4 / weights;
  while (first < last) {
    if (group > 1 && first + group <= last && field.index[first + group - 1] == field.index[first] + group - 1) {
      translate_boxes<Real, weights, group>(field, first);
      first += group;
    } else {
      translate_box<Real, weights>(field, first++);
    }
  }
}

template <class Real>
void translate(const BoxField<Real>& field, int weights, int64_t first, int64_t last) {
  if (weights == 1) translate_range<Real, 1>(field, first, last);
  if (weights == 2) translate_range<Real, 2>(field, first, last);
  if (weights == 4) translate_range<Real, 4>(field, first, last);
}

template <class Real, int count>
void evaluate_all(const Real* u, int64_t n, const Real* const* expansions, Real* const* out) {
  using L = Lanes<Real>;
  using V = typename L::Vector;
  constexpr int terms = BoxShape<Real>::terms;
  V c[count][terms];
  for (int k = 0; k < count; ++k) {
    for (int m = 0; m < terms; ++m) c[k][m] = L::all(expansions[k][m]);
  }
  for (int64_t i = 0; i < n; i += L::count) {
    V sum[count] = {};
    chebyshev(L::load(u + i), terms, [&](int m, V t) {
      for (int k = 0; k < count; ++k) sum[k] = multiply_add(c[k][m], t, sum[k]);
    });
    for (int k = 0; k < count; ++k) {
      if (i + L::count <= n) {
        L::store(out[k] + i, sum[k]);
      } else {
        for (int64_t j = i; j < n; ++j) out[k][j] = sum[k][j - i];
      }
    }
  }
}

template <class Real>
void evaluate(const Real* u, int64_t n, const Real* const* expansions, int count, Real* const* out) {
  if (count == 1) evaluate_all<Real, 1>(u, n, expansions, out);
  if (count == 2) evaluate_all<Real, 2>(u, n, expansions, out);
  if (count == 3) evaluate_all<Real, 3>(u, n, expansions, out);
}

template <class Real>
BoxLoops<Real> boxes() {
  return {.assign = &assign<Real>,
          .centre = &centre<Real>,
          .moments = &moments<Real>,
          .translate = &translate<Real>,
          .evaluate = &evaluate<Real>};
}

}  // namespace
}  // namespace mr::cpu::MR_SIMD

namespace mr::cpu {

template <>
BoxLoops<float> loops_of<BoxLoops<float>, Simd::MR_SIMD>() {
  return MR_SIMD::boxes<float>();
}
template <>
BoxLoops<double> loops_of<BoxLoops<double>, Simd::MR_SIMD>() {
  return MR_SIMD::boxes<double>();
}

}  // namespace mr::cpu
