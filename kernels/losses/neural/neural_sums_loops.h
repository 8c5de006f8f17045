// The loops of neural_sums.h over vectors of MR_VECTOR_BYTES, inside namespace MR_SIMD; included by neural_sums_*.cpp
// only.
#include "kernels/core/simd/exponential_lanes.h"
#include "kernels/core/simd/lane_sums.h"
#include "kernels/losses/neural/neural_blocks.h"

namespace mr::cpu::MR_SIMD {
namespace {

/// Loads `n` numbers from `from` and pads them with `after` to 64 bytes.
struct Rest {
  double values[Lanes<double>::width];
  Rest(const double* from, int64_t n, double after) {
    fill(values, Lanes<double>::width, after);
    std::memcpy(values, from, static_cast<size_t>(n) * sizeof(double));
  }
};

/// Returns e^t. It is 0 for t < -350, which is out of the range of `exponential` and adds nothing to a sum.
inline Lanes<double>::Vector entry_of(Lanes<double>::Vector t) {
  using V = Lanes<double>::Vector;
  constexpr double beyond = -350;
  return t < beyond ? V{} : exponential(t < beyond ? V{} : t);
}

template <int count>
void add_up(const double* x, double a, const double* b, double c, const double* const* weights, int64_t n,
            double* out) {
  using L = Lanes<double>;
  using V = L::Vector;
  Parts<double> total[count] = {};
  const auto add = [&](const double* x_at, const double* b_at, const auto& weight_at) {
    for (int64_t p = 0; p < L::parts; ++p) {
      const V t = multiply_add(L::all(a), L::load(x_at + p * L::count), -L::load(b_at + p * L::count)) - c;
      const V entry = entry_of(t);
      for (int w = 0; w < count; ++w)
        total[w][p] = multiply_add(entry, L::load(weight_at(w) + p * L::count), total[w][p]);
    }
  };
  const int64_t whole = n / L::width * L::width;
  for (int64_t i = 0; i < whole; i += L::width) add(x + i, b + i, [&](int w) { return weights[w] + i; });
  if (whole < n) {
    const int64_t left = n - whole;
    // Pads the last vector: entries past the end are e^0 = 1 and have weight 0.
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

inline void entries(const double* x, double a, const double* b, double c, int64_t n, double* out) {
  using L = Lanes<double>;
  for (int64_t i = 0; i < n; i += L::count)
    L::store(out + i, entry_of(multiply_add(L::all(a), L::load(x + i), -L::load(b + i)) - c));
  for (int64_t i = n; i % NeuralSumLoops::block != 0; ++i) out[i] = 0;
}

/// Computes the weighted sums of each of `rows` rows in one pass. Each sum has its own chain of additions.
template <int count, int rows>
void weigh_rows(const double* entries, const double* const* weights, int64_t n, double* out) {
  using L = Lanes<double>;
  Parts<double> total[rows][count] = {};
  for (int64_t i = 0; i < n; i += L::width) {
    for (int64_t p = 0; p < L::parts; ++p) {
      typename L::Vector weight[count];
      for (int w = 0; w < count; ++w) weight[w] = L::load(weights[w] + i + p * L::count);
      for (int r = 0; r < rows; ++r) {
        const auto entry = L::load(entries + r * n + i + p * L::count);
        for (int w = 0; w < count; ++w) total[r][w][p] = multiply_add(entry, weight[w], total[r][w][p]);
      }
    }
  }
  for (int r = 0; r < rows; ++r)
    for (int w = 0; w < count; ++w) out[r * count + w] = sum_of(total[r][w]);
}

template <int count>
void weigh_together(const double* entries, const double* const* weights, int64_t n, double* out) {
  constexpr int all = NeuralSumLoops::together, rows = count == 1 || Lanes<double>::parts == 1 ? all : all / 2;
  for (int r = 0; r < all; r += rows) weigh_rows<count, rows>(entries + r * n, weights, n, out + r * count);
}

inline void weigh(const double* entries, const double* const* weights, int count, int64_t n, double* out) {
  count == 1   ? weigh_together<1>(entries, weights, n, out)
  : count == 2 ? weigh_together<2>(entries, weights, n, out)
               : weigh_together<3>(entries, weights, n, out);
}

}  // namespace
}  // namespace mr::cpu::MR_SIMD

namespace mr::cpu {

template <>
NeuralSumLoops loops_of<NeuralSumLoops, Simd::MR_SIMD>() {
  return {.add = &MR_SIMD::add,
          .entries = &MR_SIMD::entries,
          .weigh = &MR_SIMD::weigh,
          .distances = &MR_SIMD::distances,
          .row_sums = &MR_SIMD::row_sums,
          .signs = &MR_SIMD::signs};
}

}  // namespace mr::cpu
