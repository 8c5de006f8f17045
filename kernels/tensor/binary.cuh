// Elementwise functions of two tensors on the GPU, if both have the result's shape, or one is a single number. Other
// broadcasts take the general kernel.
#pragma once

#include "kernels/device/launch.cuh"
#include "kernels/device/pack.h"
#include "kernels/tensor/elementwise.h"

namespace mr::cuda {

/// One of the two operands of an elementwise function: as many consecutive numbers as the result, or one number for all
/// entries.
template <class Real>
struct Operand {
  const Real* data;
  bool is_one;

  Operand(Span<const Real> numbers, const Broadcast& from) : data(numbers.data), is_one(from.step == 0) {}
  static bool fits(Span<const Real> numbers, const Broadcast& from) {
    return from.dims == 0 && (from.step == 0 || (from.step == 1 && is_aligned(numbers.data)));
  }
  __device__ Real at(int64_t i) const { return data[is_one ? 0 : i]; }
  template <int V>
  __device__ Pack<Real, V> pack_at(int64_t i) const {
    if (!is_one) return pack<Real, V>(data + i * V);
    Pack<Real, V> same;
    for (int v = 0; v < V; ++v) same.at[v] = *data;
    return same;
  }
};

/// Applies a function of two operands entry by entry. Each GPU thread loads several packs of 16 bytes before it stores
/// its first result. So several memory accesses are in flight at once; memory is slower than the arithmetic.
template <class Real, class Function>
__global__ void __launch_bounds__(256)
    run_binary(int64_t count, const Operand<Real> a, const Operand<Real> b, Real* out) {
  constexpr int V = 16 / sizeof(Real), together = 4;
  const int64_t packs = count / V, lanes = blockDim.x, step = gridDim.x * lanes * together;
  for (int64_t first = blockIdx.x * lanes * together + threadIdx.x; first < packs; first += step) {
    Pack<Real, V> x[together], y[together];
    for (int k = 0; k < together; ++k) {
      const int64_t i = first + k * lanes;
      if (i >= packs) break;
      x[k] = a.template pack_at<V>(i);
      y[k] = b.template pack_at<V>(i);
    }
    for (int k = 0; k < together; ++k) {
      const int64_t i = first + k * lanes;
      if (i >= packs) break;
      Pack<Real, V> result;
      for (int v = 0; v < V; ++v) result.at[v] = Function::value(x[k].at[v], y[k].at[v]);
      pack<Real, V>(out + i * V) = result;
    }
  }
  const int64_t left = packs * V + threadIdx.x;
  if (blockIdx.x == 0 && left < count) out[left] = Function::value(a.at(left), b.at(left));
}

template <class Real, class Function>
void binary(int64_t count, const Binary<Real, Function>& w) {
  constexpr int64_t lanes = 256, of_block = lanes * 4 * 16 / sizeof(Real);
  const bool fits = Operand<Real>::fits(w.a, w.from_a) && Operand<Real>::fits(w.b, w.from_b) && is_aligned(w.out.data);
  if (!fits) return Backend::elements(count, w);
  launch(&run_binary<Real, Function>, blocks_for((count + of_block - 1) / of_block), lanes, 0, count,
         Operand<Real>(w.a, w.from_a), Operand<Real>(w.b, w.from_b), w.out.data);
}

}  // namespace mr::cuda
