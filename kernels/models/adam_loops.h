// The loop of Adam over vectors of MR_VECTOR_BYTES, inside namespace MR_SIMD; included by training_loops.h only.
#include "kernels/core/simd/lanes.h"
#include "kernels/models/training_cpu.h"

namespace mr::cpu::MR_SIMD {
namespace {

/// Holds the last n entries of a row, fewer than a vector, padded with zeros.
template <class Real>
struct Tail {
  Real lanes[Lanes<Real>::count] = {};
  Tail(const Real* from, int64_t n) { std::memcpy(lanes, from, n * sizeof(Real)); }
};

/// Holds the settings of an Adam step (AdamRates), each copied to every lane of a SIMD vector.
template <class Real>
struct Rates {
  using V = typename Lanes<Real>::Vector;
  V rate, correction, beta1, beta2, left1, left2, epsilon, decay;
  explicit Rates(const AdamRates<Real>& r)
      : rate(L::all(r.rate)),
        correction(L::all(r.correction)),
        beta1(L::all(r.beta1)),
        beta2(L::all(r.beta2)),
        left1(L::all(1 - r.beta1)),
        left2(L::all(1 - r.beta2)),
        epsilon(L::all(r.epsilon)),
        decay(L::all(r.decay)) {}

 private:
  using L = Lanes<Real>;
};

template <class Real>
struct Moments {
  typename Lanes<Real>::Vector parameter, mean, square;
  void step(typename Lanes<Real>::Vector gradient, const Rates<Real>& r) {
    const auto g = gradient + r.decay * parameter;
    mean = r.beta1 * mean + r.left1 * g;
    square = r.beta2 * square + r.left2 * g * g;
    parameter -= r.rate * mean / (root<Real>(square * r.correction) + r.epsilon);
  }
};

/// Takes a step of Adam for one SIMD vector of a row's entries.
template <class Real>
void step_at(Real* parameter, Real* mean, Real* square, typename Lanes<Real>::Vector gradient,
             const Rates<Real>& rates) {
  using L = Lanes<Real>;
  Moments<Real> at{L::load(parameter), L::load(mean), L::load(square)};
  at.step(gradient, rates);
  L::store(parameter, at.parameter);
  L::store(mean, at.mean);
  L::store(square, at.square);
}

/// Takes a step of Adam for the last n entries of a row, fewer than a vector. A null gradient counts as zero.
template <class Real>
void step_tail(Real* parameter, Real* mean, Real* square, const Real* gradient, int64_t n, const Rates<Real>& rates) {
  const auto part = [&](const Real* from) { return Lanes<Real>::load(Tail<Real>(from, n).lanes); };
  const auto put = [&](Real* to, const typename Lanes<Real>::Vector& v) { std::memcpy(to, &v, n * sizeof(Real)); };
  Moments<Real> at{part(parameter), part(mean), part(square)};
  at.step(gradient ? part(gradient) : typename Lanes<Real>::Vector{}, rates);
  put(parameter, at.parameter);
  put(mean, at.mean);
  put(square, at.square);
}

/// Loads the gradient of a parameter's row without a branch, because the branch predictor cannot foresee which rows
/// have a gradient. For a row without gradient, other memory is loaded and a bit mask turns all loaded numbers into
/// zeros.
template <class Real>
class RowGradient {
  using V = typename Lanes<Real>::Vector;
  using Mask = decltype(V{} < V{});

 public:
  RowGradient(const AdamRows<Real>& w, int64_t slot, const Real* other) {
    const int64_t keep = ~(slot >> 63);
    const auto mine = reinterpret_cast<uintptr_t>(w.gradient) + static_cast<uintptr_t>(slot * w.width) * sizeof(Real),
               theirs = reinterpret_cast<uintptr_t>(other);
    from_ = reinterpret_cast<const Real*>(theirs ^ ((mine ^ theirs) & static_cast<uintptr_t>(keep)));
    mask_ = Mask{} + static_cast<decltype(Mask{}[0] + 0)>(keep);
  }
  V at(int64_t c) const { return reinterpret_cast<V>(reinterpret_cast<Mask>(Lanes<Real>::load(from_ + c)) & mask_); }
  const Real* from() const { return from_; }

 private:
  const Real* from_;
  Mask mask_;
};

/// Takes a step of Adam for the rows with positions `first` to `last` - 1. `tails`: true if the width of a row is not
/// a multiple of a SIMD vector's length. The loop is without function calls, because a call would spill all registers.
template <bool tails, class Real>
void adam_rows(const AdamRows<Real>& at, int64_t first, int64_t last, const AdamRates<Real>& rates) {
  constexpr int64_t count = Lanes<Real>::count;
  const Rates<Real> own(rates);  // local copies, which the compiler knows are not aliased by stores
  const AdamRows<Real> w = at;
  const int64_t whole = w.width / count * count;
  for (int64_t i = first; i < last; ++i) {
    const int64_t row = w.rows ? w.rows[i] : i, slot = w.slot ? w.slot[row] : row, from = row * w.width;
    Real *const parameter = w.parameter + from, *const mean = w.mean + from, *const square = w.square + from;
    const RowGradient<Real> gradient(w, slot, mean);
    for (int64_t c = 0; c < whole; c += count) step_at(parameter + c, mean + c, square + c, gradient.at(c), own);
    if constexpr (tails)
      step_tail(parameter + whole, mean + whole, square + whole, slot < 0 ? nullptr : gradient.from() + whole,
                w.width - whole, own);
  }
}

template <class Real>
void adam(const AdamRows<Real>& at, int64_t first, int64_t last, const AdamRates<Real>& rates) {
  if (at.width % Lanes<Real>::count == 0) return adam_rows<false>(at, first, last, rates);
  adam_rows<true>(at, first, last, rates);
}

}  // namespace
}  // namespace mr::cpu::MR_SIMD
