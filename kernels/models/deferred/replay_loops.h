// The loops of replay_cpu.h over vectors of MR_VECTOR_BYTES, inside namespace MR_SIMD.
#include "kernels/core/prefetch.h"
#include "kernels/core/simd/lanes.h"
#include "kernels/models/deferred/replay_cpu.h"

namespace mr::cpu::MR_SIMD {
namespace {

/// The kind of an optimizer step and whether it uses a mean gradient, as compile-time constants for its loops.
template <StepKind kind_, bool has_mean_>
struct Form {
  static constexpr StepKind kind = kind_;
  static constexpr bool has_mean = has_mean_;
};

/// Holds the settings of an optimizer, each copied to every lane of a SIMD vector.
template <class Real>
struct Settings {
  using L = Lanes<Real>;
  typename L::Vector beta1, keep, add, epsilon, decay, left1, left2;
  explicit Settings(const ReplayRows<Real>& w)
      : beta1(L::all(w.beta1)),
        keep(L::all(w.keep)),
        add(L::all(w.add)),
        epsilon(L::all(w.epsilon)),
        decay(L::all(w.decay)),
        left1(L::all(1 - w.beta1)),
        left2(L::all(1 - w.keep)) {}
};

/// Takes a missed optimizer step for a SIMD vector of entries, with the same operations as ReplayRows::step for one
/// entry.
template <class F, class Real>
void step(typename Lanes<Real>::Vector& p, typename Lanes<Real>::Vector& m, typename Lanes<Real>::Vector& v,
          const MissedStep<Real>& s, const Settings<Real>& o) {
  using V = typename Lanes<Real>::Vector;
  if constexpr (F::kind == StepKind::adam) {
    p *= s.factor;
    const V g = V{} + o.decay * p;
    m = o.beta1 * m + o.left1 * g;
    v = o.keep * v + o.left2 * g * g;
    p -= s.rate * m / (root<Real>(v * s.correction) + o.epsilon);
    return;
  }
  V d = V{} + o.decay * p;
  v = o.keep * v + o.add * d * d;
  d = d / (root<Real>(v) + o.epsilon);
  if constexpr (F::has_mean) d = m = o.beta1 * m + d;
  p -= s.rate * d;
}

/// Takes the missed steps of n vectors of a row at once, because a step of one vector waits for the vector's step
/// before.
template <class F, int n, class Real>
void vectors(const ReplayRows<Real>& w, const Settings<Real>& o, int64_t at, int32_t from) {
  using L = Lanes<Real>;
  typename L::Vector p[n] = {}, m[n] = {}, v[n] = {};
  for (int j = 0; j < n; ++j) {
    p[j] = L::load(w.parameter + at + j * L::count);
    if constexpr (F::has_mean) m[j] = L::load(w.mean + at + j * L::count);
    v[j] = L::load(w.square + at + j * L::count);
  }
  for (int32_t k = from; k < w.now; ++k) {
    const MissedStep<Real> s = w.steps[k];
    for (int j = 0; j < n; ++j) step<F, Real>(p[j], m[j], v[j], s, o);
  }
  for (int j = 0; j < n; ++j) {
    L::store(w.parameter + at + j * L::count, p[j]);
    if constexpr (F::has_mean) L::store(w.mean + at + j * L::count, m[j]);
    L::store(w.square + at + j * L::count, v[j]);
  }
}

/// Takes the missed steps for the last `n` entries of a row, which are fewer than a SIMD vector.
template <class F, class Real>
void tail(const ReplayRows<Real>& w, const Settings<Real>& o, int64_t at, int64_t n, int32_t from) {
  using L = Lanes<Real>;
  Real p[L::count] = {}, m[L::count] = {}, v[L::count] = {};
  std::memcpy(p, w.parameter + at, n * sizeof(Real));
  if constexpr (F::has_mean) std::memcpy(m, w.mean + at, n * sizeof(Real));
  std::memcpy(v, w.square + at, n * sizeof(Real));
  auto ps = L::load(p), ms = L::load(m), vs = L::load(v);
  for (int32_t k = from; k < w.now; ++k) step<F, Real>(ps, ms, vs, w.steps[k], o);
  std::memcpy(w.parameter + at, &ps, n * sizeof(Real));
  if constexpr (F::has_mean) std::memcpy(w.mean + at, &ms, n * sizeof(Real));
  std::memcpy(w.square + at, &vs, n * sizeof(Real));
}

/// Prefetches the i-th of the rows to update, from all tables of the optimizer. Does nothing if i >= `last`.
template <class Real>
void fetch(const ReplayRows<Real>& w, int64_t i, int64_t last) {
  if (i >= last) return;
  for (const Real* const table : {w.parameter, w.mean, w.square}) prefetch_row<true>(table, w.rows[i], w.width);
}

template <class F, class Real>
void rows(const ReplayRows<Real>& work, int64_t first, int64_t last) {
  constexpr int64_t count = Lanes<Real>::count;
  const ReplayRows<Real> w = work;
  const Settings<Real> o(w);
  for (int64_t i = first; i < smaller(last, first + rows_ahead); ++i) fetch(w, i, last);
  for (int64_t i = first; i < last; ++i) {
    fetch(w, i + rows_ahead, last);
    const int64_t at = w.rows[i] * w.width;
    const int32_t from = w.from[i];
    int64_t c = 0;
    for (; c + 2 * count <= w.width; c += 2 * count) vectors<F, 2>(w, o, at + c, from);
    for (; c + count <= w.width; c += count) vectors<F, 1>(w, o, at + c, from);
    if (c < w.width) tail<F>(w, o, at + c, w.width - c, from);
    w.since[w.rows[i]] = w.now;
  }
}

template <class Real>
void replay(const ReplayRows<Real>& w, int64_t first, int64_t last) {
  if (w.kind == StepKind::adam) return rows<Form<StepKind::adam, true>>(w, first, last);
  if (w.mean != nullptr) return rows<Form<StepKind::root, true>>(w, first, last);
  return rows<Form<StepKind::root, false>>(w, first, last);
}

}  // namespace
}  // namespace mr::cpu::MR_SIMD

namespace mr::cpu {

template <>
ReplayLoops<float> loops_of<ReplayLoops<float>, Simd::MR_SIMD>() {
  return {.replay = &MR_SIMD::replay<float>};
}
template <>
ReplayLoops<double> loops_of<ReplayLoops<double>, Simd::MR_SIMD>() {
  return {.replay = &MR_SIMD::replay<double>};
}

}  // namespace mr::cpu
