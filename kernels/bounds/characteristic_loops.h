// The loops over frequencies, inside namespace MR_SIMD; included by characteristic_*.cpp only. Each call computes two
// vectors of frequencies, which together with their factors fill the registers.
#include "kernels/bounds/characteristic_cpu.h"
#include "kernels/core/simd/lanes.h"
#include "kernels/core/threads.h"

namespace mr::cpu::MR_SIMD {
namespace {

using L = Lanes<double>;
using Vector = L::Vector;
constexpr int64_t parts = 2;
constexpr int64_t width = parts * L::count;

/// Complex numbers in SIMD registers: one for each of the `width` frequencies that a loop computes at the same time.
struct Complex {
  Vector re[parts], im[parts];

  static Complex load(const double* from, int64_t imaginary) {
    Complex z;
    for (int64_t v = 0; v < parts; ++v) {
      z.re[v] = L::load(from + v * L::count);
      z.im[v] = L::load(from + imaginary + v * L::count);
    }
    return z;
  }
  void store(double* to, int64_t imaginary) const {
    for (int64_t v = 0; v < parts; ++v) {
      L::store(to + v * L::count, re[v]);
      L::store(to + imaginary + v * L::count, im[v]);
    }
  }
  static Complex all(double x, double y) {
    Complex z;
    for (int64_t v = 0; v < parts; ++v) {
      z.re[v] = L::all(x);
      z.im[v] = L::all(y);
    }
    return z;
  }
};

inline Complex operator*(const Complex& a, const Complex& b) {
  Complex z;
  for (int64_t v = 0; v < parts; ++v) {
    z.re[v] = multiply_add(a.re[v], b.re[v], -(a.im[v] * b.im[v]));
    z.im[v] = multiply_add(a.re[v], b.im[v], a.im[v] * b.re[v]);
  }
  return z;
}

/// `scaled` returns x a, and `plus` returns a + y b, for real numbers x and y and complex numbers a and b.
inline Complex scaled(double x, const Complex& a) {
  Complex z;
  for (int64_t v = 0; v < parts; ++v) {
    z.re[v] = x * a.re[v];
    z.im[v] = x * a.im[v];
  }
  return z;
}
inline Complex plus(const Complex& a, double y, const Complex& b) {
  Complex z;
  for (int64_t v = 0; v < parts; ++v) {
    z.re[v] = multiply_add(L::all(y), b.re[v], a.re[v]);
    z.im[v] = multiply_add(L::all(y), b.im[v], a.im[v]);
  }
  return z;
}

inline Complex power(Complex base, int64_t exponent) {
  Complex z = Complex::all(1, 0);
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) z = z * base;
    base = base * base;
  }
  return z;
}

/// Returns exp(i angle) for `width` frequencies, from number `lane` on. `at` is the index of a rank and level in the
/// tables of angles.
inline Complex rotation(const RankingTransform& t, int64_t at, int64_t lane) {
  return Complex::all(t.start[2 * at], t.start[2 * at + 1]) *
         Complex::load(t.powers + 2 * frequency_lanes * at + lane, frequency_lanes);
}

/// Computes the recursion over ranks for a list with binary grades. Its state c sums over the rankings with c relevant
/// rows so far; it is 0 if that count is negligibly rare.
template <bool Cumulative, bool Weighted>
void one_level(const RankingTransform& t, int64_t lane, double* state) {
  constexpr int64_t size = 2 * width;
  const int64_t p = t.rows_of[0];
  const double weight = Weighted ? t.weights[0] : 1;
  fill(state, (p + 2) * size, 0.0);
  // Before rank 1, state 0 (no relevant row so far) has probability 1. The state of count -1 stays 0.
  fill(state + size, width, 1.0);
  int64_t before = 0;
  for (int64_t r = 0; r < t.n; ++r) {
    if (r % 256 == 255) check_interrupt();
    const Complex turn = rotation(t, r, lane);
    const int64_t low = t.low[r], high = t.high[r];
    Complex angle = Cumulative ? power(turn, low) : turn;
    Complex above = Complex::load(state + low * size, width);
    const auto others = [&](int64_t c) { return static_cast<double>(t.n - r - (p - c)); };
    // 1 / (total sampling weight of the rows that remain after c relevant rows were drawn)
    const auto share = [&](int64_t c) { return 1 / (static_cast<double>(p - c) * weight + others(c)); };
    double above_share = share(low - 1);
    for (int64_t c = low; c <= high; ++c) {
      double* const own = state + (c + 1) * size;
      const Complex here = Complex::load(own, width);
      const double own_share = Weighted ? share(c) : above_share;
      const double hit = static_cast<double>(p - c + 1) * (Weighted ? weight * above_share : above_share);
      plus(scaled(hit, angle * above), others(c) * own_share, here).store(own, width);
      above = here;
      above_share = own_share;
      if constexpr (Cumulative) angle = angle * turn;
    }
    if (low > before) fill(state + (before + 1) * size, (low - before) * size, 0.0);
    before = low;
  }
}

/// Walks over the states of a list with several levels of gain. A state is a combination of the numbers of rows of each
/// level so far; the last level's number varies fastest.
struct Levels {
  static constexpr int64_t most = 8;
  const RankingTransform& t;
  int64_t stride[most], count[most], states = 1, all = 0, sum = 0;

  explicit Levels(const RankingTransform& transform) : t(transform) {
    for (int64_t l = t.levels - 1; l >= 0; --l) {
      stride[l] = states;
      states *= t.rows_of[l] + 1;
      all += t.rows_of[l];
    }
  }

  void to_last() {
    for (int64_t l = 0; l < t.levels; ++l) count[l] = t.rows_of[l];
    sum = all;
  }

  void one_down() {
    for (int64_t l = t.levels - 1; l >= 0; --l) {
      if (count[l] > 0) {
        --count[l];
        --sum;
        return;
      }
      count[l] = t.rows_of[l];
      sum += count[l];
    }
  }

  /// Returns the total sampling weight of the rows that remain in the current state, without rows of level 0.
  double weight_left() const {
    double total = 0;
    for (int64_t l = 0; l < t.levels; ++l) total += static_cast<double>(t.rows_of[l] - count[l]) * t.weights[l];
    return total;
  }

  /// Returns the current state after rank r, from itself and from states with one row less. `others`: number of
  /// remaining rows of level 0.
  template <bool Weighted>
  Complex after(int64_t r, double others, const Complex* turn, const double* own) const {
    constexpr int64_t size = 2 * width;
    const double weight = Weighted ? weight_left() : 0;
    const double left = 1 / (Weighted ? weight + others : static_cast<double>(t.n - r));
    const Complex here = Complex::load(own, width);
    Complex z = scaled(sum <= r ? others * left : 0, here);
    for (int64_t l = 0; l < t.levels; ++l) {
      if (count[l] == 0) continue;
      // probability that a certain one of the remaining rows of level l is drawn at this rank: its sampling weight
      // divided by the weight of all rows that remained before the draw. This state is the one after the draw, so
      // before it one more row of level l was left.
      const double share = Weighted ? t.weights[l] / (weight + t.weights[l] + (others > 0 ? others - 1 : 0)) : left;
      const double hit = static_cast<double>(t.rows_of[l] - count[l] + 1) * share;
      z = plus(z, hit, turn[l] * Complex::load(own - stride[l] * size, width));
    }
    return z;
  }
};

/// Computes the states of a list with several levels of gain, from the largest state down. So each state reads states
/// of the previous rank, which are not overwritten yet.
template <bool Weighted>
void many_levels(const RankingTransform& t, int64_t lane, double* state) {
  constexpr int64_t size = 2 * width;
  Levels at(t);
  fill(state, at.states * size, 0.0);
  fill(state, width, 1.0);
  for (int64_t r = 0; r < t.n; ++r) {
    Complex turn[Levels::most];
    for (int64_t l = 0; l < t.levels; ++l) turn[l] = rotation(t, r * t.levels + l, lane);
    at.to_last();
    for (int64_t s = at.states - 1; s >= 0; --s) {
      const auto others = static_cast<double>(t.n - at.all - (r - at.sum));
      if (at.sum <= r + 1 && others >= 0) {
        at.after<Weighted>(r, others, turn, state + s * size).store(state + s * size, width);
      }
      at.one_down();
    }
  }
}

void characteristic(const RankingTransform& t, double* scratch, double* re, double* im) {
  const bool weighted = t.weights != nullptr;
  const auto one = t.cumulative ? (weighted ? one_level<true, true> : one_level<true, false>)
                                : (weighted ? one_level<false, true> : one_level<false, false>);
  const auto many = weighted ? many_levels<true> : many_levels<false>;
  for (int64_t lane = 0; lane < frequency_lanes; lane += width) {
    int64_t last = 0;
    if (t.levels > 1) {
      many(t, lane, scratch);
      last = 1;
      for (int64_t l = 0; l < t.levels; ++l) last *= t.rows_of[l] + 1;
      --last;
    } else {
      one(t, lane, scratch);
      last = t.rows_of[0] + 1;
    }
    for (int64_t i = 0; i < width; ++i) {
      re[lane + i] = scratch[last * 2 * width + i];
      im[lane + i] = scratch[last * 2 * width + width + i];
    }
  }
}

void fourier_sums(const double* coefficients, int64_t terms, const double* w_re, const double* w_im, double* first,
                  double* second) {
  for (int64_t lane = 0; lane < frequency_lanes; lane += width) {
    Complex w, a = Complex::all(0, 0), b = a;
    for (int64_t v = 0; v < parts; ++v) {
      w.re[v] = L::load(w_re + lane + v * L::count);
      w.im[v] = L::load(w_im + lane + v * L::count);
    }
    for (int64_t k = terms - 1; k >= 0; --k) {  // sums the Fourier series, a polynomial in w, by Horner's rule
      const double* const c = coefficients + 4 * k;
      for (int64_t v = 0; v < parts; ++v) {
        a.re[v] += c[0];
        a.im[v] += c[1];
        b.re[v] += c[2];
        b.im[v] += c[3];
      }
      a = a * w;
      b = b * w;
    }
    for (int64_t v = 0; v < parts; ++v) {
      L::store(first + lane + v * L::count, a.re[v]);
      L::store(second + lane + v * L::count, b.im[v]);
    }
  }
}

}  // namespace
}  // namespace mr::cpu::MR_SIMD

namespace mr::cpu {

template <>
FrequencyLoops loops_of<FrequencyLoops, Simd::MR_SIMD>() {
  return {.characteristic = &MR_SIMD::characteristic, .fourier_sums = &MR_SIMD::fourier_sums};
}

}  // namespace mr::cpu
