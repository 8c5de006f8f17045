// The loop of neural_sums.h over vectors of MR_VECTOR_BYTES, inside namespace MR_SIMD; included by neural_sums_*.cpp
// only.
#include "kernels/core/exponential_lanes.h"
#include "kernels/core/lane_sums.h"
#include "kernels/losses/neural_sums.h"

namespace mr::cpu::MR_SIMD {
namespace {

/// `n` of them at `from`, then `after` up to 64 bytes.
struct Rest {
  double values[Lanes<double>::width];
  Rest(const double* from, int64_t n, double after) {
    fill(values, Lanes<double>::width, after);
    std::memcpy(values, from, static_cast<size_t>(n) * sizeof(double));
  }
};

template <int count>
void add_up(const double* x, double a, const double* b, double c, const double* const* weights, int64_t n,
            double* out) {
  using L = Lanes<double>;
  using V = L::Vector;
  constexpr double beyond = -350;  // what is e to this adds nothing, and ends the range of `exponential`
  Parts<double> total[count] = {};
  const auto add = [&](const double* x_at, const double* b_at, const auto& weight_at) {
    for (int64_t p = 0; p < L::parts; ++p) {
      const V t = multiply_add(L::all(a), L::load(x_at + p * L::count), -L::load(b_at + p * L::count)) - c;
      const V entry = t < beyond ? V{} : exponential(t < beyond ? V{} : t);
      for (int w = 0; w < count; ++w)
        total[w][p] = multiply_add(entry, L::load(weight_at(w) + p * L::count), total[w][p]);
    }
  };
  const int64_t whole = n / L::width * L::width;
  for (int64_t i = 0; i < whole; i += L::width) add(x + i, b + i, [&](int w) { return weights[w] + i; });
  if (whole < n) {
    const int64_t left = n - whole;
    // past the end an entry is e^0, and weighs nothing
    const Rest x_rest(x + whole, left, 0), b_rest(b + whole, left, -c);
    double rest[count][L::width] = {};
    for (int w = 0; w < count; ++w)
      std::memcpy(rest[w], weights[w] + whole, static_cast<size_t>(left) * sizeof(double));
    add(x_rest.values, b_rest.values, [&](int w) { return rest[w]; });
  }
  for (int w = 0; w < count; ++w) out[w] = sum_of(total[w]);
}

inline void add(const double* x, double a, const double* b, double c, const double* const* weights, int count,
                int64_t n, double* out) {
  count == 1   ? add_up<1>(x, a, b, c, weights, n, out)
  : count == 2 ? add_up<2>(x, a, b, c, weights, n, out)
               : add_up<3>(x, a, b, c, weights, n, out);
}

}  // namespace
}  // namespace mr::cpu::MR_SIMD

namespace mr::cpu {

template <>
NeuralSumLoops loops_of<NeuralSumLoops, Simd::MR_SIMD>() {
  return {.add = &MR_SIMD::add};
}

}  // namespace mr::cpu
