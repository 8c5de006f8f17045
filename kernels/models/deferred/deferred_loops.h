// The loops of deferred_cpu.h over vectors of MR_VECTOR_BYTES, inside namespace MR_SIMD.
#include "kernels/core/prefetch.h"
#include "kernels/core/simd/lanes.h"
#include "kernels/models/deferred/deferred_cpu.h"

namespace mr::cpu::MR_SIMD {
namespace {

/// Loads `n` entries of a row: a whole vector, or the last few.
template <class Real>
typename Lanes<Real>::Vector part(const Real* from, int64_t n) {
  if (n == Lanes<Real>::count) return Lanes<Real>::load(from);
  Real lanes[Lanes<Real>::count] = {};
  std::memcpy(lanes, from, n * sizeof(Real));
  return Lanes<Real>::load(lanes);
}
template <class Real>
void put(Real* to, typename Lanes<Real>::Vector v, int64_t n) {
  if (n == Lanes<Real>::count) return Lanes<Real>::store(to, v);
  std::memcpy(to, &v, n * sizeof(Real));
}

/// Prefetches the i-th updated row, and the row with the same number in the table `other`. Does nothing if i >=
/// `last`.
template <class Real>
void fetch(const DeferredRows<Real>& at, const Real* other, int64_t i, int64_t last) {
  if (i >= last) return;
  prefetch_row<true>(at.row(at.rows[i]).base, 0, at.width * at.tables());
  prefetch_row<true>(other, at.rows[i], at.width);
}

/// Sets the members of `at` that are known for Adam to constants, so that loops over its rows have no branches for
/// other optimizers.
template <bool adam, class Real>
void assume(DeferredRows<Real>& at) {
  if constexpr (adam) {
    at.kind = StepKind::adam;
    at.has_mean = at.has_square = true;
  }
}

/// Computes DeferredRows::lost, the amount that deferred updates subtract from entries, for a SIMD vector of entries.
template <class Real>
typename Lanes<Real>::Vector lost(const DeferredRows<Real>& at, const Glide<Real>& g, typename Lanes<Real>::Vector m,
                                  typename Lanes<Real>::Vector v) {
  if (at.kind != StepKind::adam) return m * g.top[0];
  const auto roots = root<Real>(v);
  if (g.terms > 0) {
    typename Lanes<Real>::Vector total{};
    for (int64_t k = g.first; k < g.first + g.terms; ++k) total += at.weights[k] / (roots + at.places[k]);
    return m * total;
  }
  if (g.low) {
    const auto far = roots + g.reach;
    return m * (g.top[0] * far + g.reach * g.top[1]) /
           (far * far + g.reach * (g.bottom[0] * far + g.bottom[1] * g.reach));
  }
  const auto inverse = 1 / (roots + g.reach), u = g.reach * inverse;
  const auto above = g.top[0] + u * (g.top[1] + u * g.top[2]);
  return m * inverse * above / (1 + u * (g.bottom[0] + u * (g.bottom[1] + u * g.bottom[2])));
}

template <bool adam, class Real>
void settle_rows(const SettleRows<Real>& work, int64_t first, int64_t last) {
  SettleRows<Real> w = work;
  assume<adam>(w.at);
  const int64_t width = w.at.width;
  for (int64_t i = first; i < smaller(last, first + rows_ahead); ++i) fetch(w.at, w.out, i, last);
  for (int64_t i = first; i < last; ++i) {
    fetch(w.at, w.out, i + rows_ahead, last);
    const StoredRow<Real> row = w.at.row(w.at.rows[i]);
    Real* const out = w.out + w.at.rows[i] * width;
    if (w.at.glide[i] < 0) {
      std::memcpy(out, row.base, width * sizeof(Real));
      continue;
    }
    const Glide<Real> g = w.at.glides[w.at.glide[i]];
    for (int64_t c = 0; c < width; c += Lanes<Real>::count) {
      const int64_t n = smaller(Lanes<Real>::count, width - c);
      auto p = part(row.base + c, n) * g.kept;
      if (w.at.has_mean) {
        const auto v = w.at.has_square ? part(row.square + c, n) : typename Lanes<Real>::Vector{};
        p -= lost(w.at, g, part(row.mean + c, n), v);
      }
      put<Real>(out + c, p, n);
    }
  }
}

/// Entries of a row: of the parameter (p), and of the optimizer's averages or sums of its gradients (m) and of their
/// squares (v), if it has them. The functions apply deferred updates, or an optimizer step, to them.
template <class Real>
struct Moving {
  typename Lanes<Real>::Vector p, m, v;
  void along(typename Lanes<Real>::Vector g, const StepRows<Real>& w) {
    if (w.at.kind == StepKind::adam) {
      p *= w.factor;
      m = w.beta1 * m + (1 - w.beta1) * g;
      v = w.beta2 * v + (1 - w.beta2) * g * g;
      p -= w.rate * m / (root<Real>(v * w.correction) + w.epsilon);
      return;
    }
    if (w.decay != 0) g += w.decay * p;
    if (w.at.kind == StepKind::root) {
      v = w.beta2 * v + w.add * g * g;
      g = g / (root<Real>(v) + w.epsilon);
    }
    if (w.at.has_mean) g = m = w.beta1 * m + g;
    p -= w.rate * g;
  }
  /// Applies the deferred updates to a vector of entries. If the parameter already shows their result, `shown` points
  /// to its entries there, which are loaded instead of computed; otherwise it is null.
  void glide(const Glide<Real>& g, const StepRows<Real>& w, const Real* shown, int64_t n) {
    const auto stored = p;
    if (shown != nullptr) {
      p = part(shown, n);
    } else {
      p *= g.kept;
      if (w.at.has_mean) p -= lost(w.at, g, m, v);
    }
    m *= g.mean_left;
    if (w.decay != 0) m += g.pull * stored;
    v *= g.square_left;
  }
};

template <bool adam, class Real>
void step_rows(const StepRows<Real>& work, int64_t first, int64_t last) {
  StepRows<Real> w = work;
  assume<adam>(w.at);
  const int64_t width = w.at.width;
  for (int64_t i = first; i < smaller(last, first + rows_ahead); ++i) fetch(w.at, w.shown, i, last);
  for (int64_t i = first; i < last; ++i) {
    fetch(w.at, w.shown, i + rows_ahead, last);
    const StoredRow<Real> row = w.at.row(w.at.rows[i]);
    Real* const shown = w.shown + w.at.rows[i] * width;
    const int32_t glide = w.at.glide_of(i);
    const bool behind = glide >= 0, is_shown = w.at.glide[i] < 0;
    const Glide<Real> g = behind ? w.at.glides[glide] : Glide<Real>{};
    for (int64_t c = 0; c < width; c += Lanes<Real>::count) {
      const int64_t n = smaller(Lanes<Real>::count, width - c);
      Moving<Real> at{part(row.base + c, n), {}, {}};
      if (w.at.has_mean) at.m = part(row.mean + c, n);
      if (w.at.has_square) at.v = part(row.square + c, n);
      if (behind) at.glide(g, w, is_shown ? shown + c : nullptr, n);
      at.along(part(w.gradient + i * width + c, n), w);
      if (w.at.has_square) put<Real>(row.square + c, at.v, n);
      if (w.at.has_mean) put<Real>(row.mean + c, at.m, n);
      put<Real>(row.base + c, at.p, n);
      put<Real>(shown + c, at.p, n);
    }
  }
}

template <class Real>
DeferredLoops<Real> deferred() {
  return {.settle =
              [](const SettleRows<Real>& work, int64_t first, int64_t last) {
                (work.at.kind == StepKind::adam ? settle_rows<true, Real> : settle_rows<false, Real>)(work, first,
                                                                                                      last);
              },
          .step =
              [](const StepRows<Real>& work, int64_t first, int64_t last) {
                (work.at.kind == StepKind::adam ? step_rows<true, Real> : step_rows<false, Real>)(work, first, last);
              }};
}

}  // namespace
}  // namespace mr::cpu::MR_SIMD

namespace mr::cpu {

template <>
DeferredLoops<float> loops_of<DeferredLoops<float>, Simd::MR_SIMD>() {
  return MR_SIMD::deferred<float>();
}
template <>
DeferredLoops<double> loops_of<DeferredLoops<double>, Simd::MR_SIMD>() {
  return MR_SIMD::deferred<double>();
}

}  // namespace mr::cpu
