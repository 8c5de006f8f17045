// Elementwise functions of two operands on the CPU, with broadcasting. Along the last dimension of the result, an
// operand is read with a constant stride, which is 0 or 1 for almost all tensors. So an operand's position is computed
// once per run of entries (a row of the result), and the compiler vectorizes the loop over a run. Entries go through
// the same operations as in kernels/tensor/elementwise.h, so the bits are equal.
#pragma once

#include <algorithm>
#include <type_traits>

#include "kernels/core/launch_cpu.h"
#include "kernels/tensor/elementwise.h"

namespace mr::cpu {

/// Returns the distance between an operand's entries along the last dimension of the result.
inline int64_t last_stride(const Broadcast& from) { return from.dims == 0 ? from.step : from.stride[from.dims - 1]; }

/// Calls body(stride). A stride of 0 or 1 is passed as a compile-time constant, so that the compiler can vectorize the
/// loop.
template <class Body>
void with_stride(int64_t stride, const Body& body) {
  if (stride == 0) return body(std::integral_constant<int64_t, 0>{});
  if (stride == 1) return body(std::integral_constant<int64_t, 1>{});
  body(stride);
}

/// Returns the position in an operand of the entry that belongs to entry `at` of the result. `run` is the number of
/// runs of `length` entries before it; with it, matrices need no division.
inline int64_t position(const Broadcast& from, int64_t run, int64_t length, int64_t at) {
  return from.dims == 2 ? run * from.stride[0] + (at - run * length) * from.stride[1] : from(at);
}

/// Divides the result into runs of entries along its last dimension and calls body(at, n, a, b, stride_a, stride_b) for
/// each. A run has the n entries from `at` on; a and b are the positions of its first entry in the operands.
template <class Body>
void each_run(int64_t count, const Broadcast& from_a, const Broadcast& from_b, const Body& body) {
  const Broadcast& stretched = from_a.dims > 0 ? from_a : from_b;
  const int64_t length = stretched.dims > 0 ? stretched.shape[stretched.dims - 1] : std::max<int64_t>(1, count);
  with_stride(last_stride(from_a), [&](auto stride_a) {
    with_stride(last_stride(from_b), [&](auto stride_b) {
      parallel(count, entries_of_piece, [&](int64_t first, int64_t last) {
        int64_t at = first;
        for (int64_t run = first / length; at < last; ++run) {
          const int64_t end = std::min(last, (run + 1) * length);
          body(at, end - at, position(from_a, run, length, at), position(from_b, run, length, at), stride_a, stride_b);
          at = end;
        }
      });
    });
  });
}

template <class Real, class Function>
void binary(int64_t count, const Binary<Real, Function>& work) {
  each_run(count, work.from_a, work.from_b,
           [&](int64_t at, int64_t n, int64_t from_a, int64_t from_b, auto stride_a, auto stride_b) {
             const Real *const a = work.a.data + from_a, *const b = work.b.data + from_b;
             Real* const out = work.out.data + at;
             for (int64_t i = 0; i < n; ++i) out[i] = Function::value(a[i * stride_a], b[i * stride_b]);
           });
}

template <class Real, class Function>
void binary_vjp(int64_t count, const BinaryVjp<Real, Function>& work) {
  each_run(count, work.from_a, work.from_b,
           [&](int64_t at, int64_t n, int64_t from_a, int64_t from_b, auto stride_a, auto stride_b) {
             const Real *const a = work.a.data + from_a, *const b = work.b.data + from_b;
             const Real* const upstream = work.upstream.data + at;
             if (work.by_a.data != nullptr) {
               Real* const __restrict out = work.by_a.data + at;
               for (int64_t i = 0; i < n; ++i) out[i] = upstream[i] * Function::by_a(a[i * stride_a], b[i * stride_b]);
             }
             if (work.by_b.data != nullptr) {
               Real* const __restrict out = work.by_b.data + at;
               for (int64_t i = 0; i < n; ++i) out[i] = upstream[i] * Function::by_b(a[i * stride_a], b[i * stride_b]);
             }
           });
}

}  // namespace mr::cpu
