// Arithmetic on tensors on the GPU. A sum of many entries is divided among several blocks.
#include "kernels/device/launch.cuh"
#include "kernels/device/scratch.h"
#include "kernels/tensor/binary.cuh"
#include "kernels/tensor/rows.h"

namespace mr {
namespace cuda {
namespace {

/// Number of entries that a block of the GPU sums. How a long sum is divided depends on its length alone.
constexpr int64_t piece = 8192;

template <class Real>
__global__ void __launch_bounds__(128) run_sum_pieces(int64_t pieces, const ReduceSum<Real> w, double* sums) {
  __shared__ double shared[LaneGroup<4>::strands];
  const LaneGroup<4> group(shared);
  const int64_t o = blockIdx.x / pieces, from = blockIdx.x % pieces * piece;
  const int64_t n = from + piece < w.runs.length ? piece : w.runs.length - from;
  const double total = group.sum(n, [&](int64_t j) { return w.in[w.runs(o, from + j)]; });
  if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

template <class Real>
struct SumOfPieces {
  ReduceSum<Real> w;
  Span<const double> sums;
  int64_t pieces;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t o) const {
    const double total = group.sum(pieces, [&](int64_t j) { return sums[o * pieces + j]; });
    group.each(1, [&](int64_t) { w.out[o] = static_cast<Real>(total * w.scale); });
  }
};

/// Sums many entries in parts of 8192, because a single block would leave the rest of the GPU idle.
template <class Real>
void reduce_sum(int64_t count, const ReduceSum<Real>& w) {
  if (w.runs.length <= piece) return Backend::lists(count, w);
  const int64_t pieces = (w.runs.length + piece - 1) / piece;
  const Scratch<double> sums(count * pieces);
  launch(&run_sum_pieces<Real>, count * pieces, 128, 0, pieces, w, sums.data());
  Backend::lists(count, SumOfPieces<Real>{w, sums.view(), pieces});
}

template <class Real>
void with_fast_forms(ArithmeticKernels<Real>& table) {
  table.reduce_sum = &reduce_sum<Real>;
  table.add = &binary<Real, AddOf<Real>>;
  table.sub = &binary<Real, SubOf<Real>>;
  table.mul = &binary<Real, MulOf<Real>>;
  table.div = &binary<Real, DivOf<Real>>;
}

}  // namespace
}  // namespace cuda

MR_CUDA_TABLE(ArithmeticKernels, float, cuda::with_fast_forms)
MR_CUDA_TABLE(ArithmeticKernels, double, cuda::with_fast_forms)

}  // namespace mr
