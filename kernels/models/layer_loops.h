// The loops of layer_cpu.h, inside namespace MR_SIMD. Columns are the inner loop, which the compiler vectorizes.
#include "kernels/models/layer_cpu.h"

namespace mr::cpu::MR_SIMD {
namespace {

template <class Function, class Real>
void forward_rows(const LayerForward<Real>& work, int64_t first, int64_t last) {
  const int64_t width = work.bias.size;
  const Real* __restrict__ const bias = work.bias.data;
  for (int64_t row = first; row < last; ++row) {
    Real* __restrict__ const at = work.z.data + row * width;
    for (int64_t c = 0; c < width; ++c) at[c] = Function::value(at[c] + bias[c]);
  }
}

template <class Real>
void forward(const LayerForward<Real>& work, int64_t first, int64_t last) {
  if (work.activation == Activation::relu) return forward_rows<ReluActivation<Real>>(work, first, last);
  forward_rows<NoActivation<Real>>(work, first, last);
}

template <class Function, class Real>
void vjp_piece(const LayerVjp<Real>& work, int64_t piece) {
  const int64_t width = work.width, from = piece * work.piece_rows, left = work.rows - from,
                n = left < work.piece_rows ? left : work.piece_rows;
  double* __restrict__ const sums = work.sums.data + piece * width;
  for (int64_t c = 0; c < width; ++c) sums[c] = 0;
  for (int64_t row = from; row < from + n; ++row) {
    const Real* __restrict__ const y = work.y.data + row * width;
    const Real* __restrict__ const upstream = work.upstream.data + row * width;
    Real* __restrict__ const dz = work.dz.data + row * width;
    // Computes derivatives and products in two loops: in one loop, the compiler would turn a derivative of 0 or 1 and
    // its product into a branch per entry.
    constexpr int64_t part = 64;
    Real slope[part];
    for (int64_t at = 0; at < width; at += part) {
      const int64_t end = width - at < part ? width - at : part;
      for (int64_t k = 0; k < end; ++k) slope[k] = Function::derivative(y[at + k]);
      for (int64_t k = 0; k < end; ++k) {
        const Real d = upstream[at + k] * slope[k];
        dz[at + k] = d;
        sums[at + k] += d;
      }
    }
  }
}

template <class Function, class Real>
void vjp_pieces(const LayerVjp<Real>& work, int64_t first, int64_t last) {
  for (int64_t piece = first; piece < last; ++piece) vjp_piece<Function>(work, piece);
}

template <class Real>
void vjp(const LayerVjp<Real>& work, int64_t first, int64_t last) {
  switch (work.activation) {
    case Activation::relu:
      return vjp_pieces<ReluActivation<Real>>(work, first, last);
    case Activation::tanh:
      return vjp_pieces<TanhActivation<Real>>(work, first, last);
    case Activation::sigmoid:
      return vjp_pieces<SigmoidActivation<Real>>(work, first, last);
    default:
      return vjp_pieces<NoActivation<Real>>(work, first, last);
  }
}

}  // namespace
}  // namespace mr::cpu::MR_SIMD

namespace mr::cpu {

template <>
LayerLoops<float> loops_of<LayerLoops<float>, Simd::MR_SIMD>() {
  return {.forward = &MR_SIMD::forward<float>, .vjp = &MR_SIMD::vjp<float>};
}
template <>
LayerLoops<double> loops_of<LayerLoops<double>, Simd::MR_SIMD>() {
  return {.forward = &MR_SIMD::forward<double>, .vjp = &MR_SIMD::vjp<double>};
}

}  // namespace mr::cpu
