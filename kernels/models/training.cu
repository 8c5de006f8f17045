// Factor models on the GPU: eight lanes per row with 16-byte loads. The order in which a sum is added depends only on
// the number of its terms.
#include "kernels/device/launch.cuh"
#include "kernels/device/list_of.h"
#include "kernels/device/pack.h"
#include "kernels/models/rows.h"

namespace mr {
namespace cuda {
namespace {

constexpr int lanes_per_row = 8;

/// Computes the scores of a factor model. A warp handles 32 consecutive rows: each lane reads the user's and the item's
/// number of one row, and eight lanes multiply its factors. All loads of `together` steps are made before the first
/// product, so that they overlap.
template <class Real, int V>
__global__ void __launch_bounds__(128) run_factor_scores(const FactorScores<Real> w) {
  constexpr int rows_at_once = warp / lanes_per_row, together = 4;
  const int lane = static_cast<int>(threadIdx.x) % warp, part = lane % lanes_per_row;
  const int64_t per_block = blockDim.x / warp, step = gridDim.x * per_block, rows = w.scores.size;
  for (int64_t first = (blockIdx.x * per_block + threadIdx.x / warp) * warp; first < rows; first += step * warp) {
    const int64_t mine = first + lane < rows ? first + lane : rows - 1;
    int64_t list = list_of(w.lists, first);
    while (mine >= w.lists.offsets[list + 1]) ++list;
    const int64_t user = w.user_of[list] * w.width, item = w.item_of[mine] * w.width;
    for (int done = 0; done < warp; done += rows_at_once * together) {
      const Real *p[together], *q[together];
      Real total[together] = {};
      for (int k = 0; k < together; ++k) {
        const int of = done + k * rows_at_once + lane / lanes_per_row;
        p[k] = w.users.data + __shfl_sync(all_lanes, user, of);
        q[k] = w.items.data + __shfl_sync(all_lanes, item, of);
      }
      for (int64_t c = part * V; c < w.width; c += lanes_per_row * V) {
        Pack<Real, V> a[together], b[together];
        for (int k = 0; k < together; ++k) {
          a[k] = pack<Real, V>(p[k] + c);
          b[k] = pack<Real, V>(q[k] + c);
        }
        for (int k = 0; k < together; ++k)
          for (int v = 0; v < V; ++v) total[k] += a[k].at[v] * b[k].at[v];
      }
      for (int k = 0; k < together; ++k) {
        for (int apart = lanes_per_row / 2; apart > 0; apart /= 2)
          total[k] += __shfl_xor_sync(all_lanes, total[k], apart);
        const int64_t row = first + done + k * rows_at_once + lane / lanes_per_row;
        if (part == 0 && row < rows) w.scores[row] = total[k];
      }
    }
  }
}

template <class Real>
void factor_scores(int64_t, const FactorScores<Real>& w) {
  with_pack(w.users.data, w.items.data, w.width, [&](auto v) {
    launch(&run_factor_scores<Real, decltype(v)::value>, blocks_for((w.scores.size + 127) / 128), 128, 0, w);
  });
}

/// The terms that are summed for a user's gradient. Each row of the user's list adds its upstream derivative times the
/// factors of its item.
template <class Real>
struct UserTerms {
  FactorUserGradients<Real> w;
  __device__ int64_t begin(int64_t sum) const { return w.lists.begin(sum); }
  __device__ int64_t size(int64_t sum) const { return w.lists.size(sum); }
  __device__ Real scale(int64_t k) const { return w.upstream[k]; }
  __device__ const Real* factors(int64_t k) const { return w.items.data + w.item_of[k] * w.width; }
};

/// The terms that are summed for an item's gradient. Each row of the batch with this item adds its upstream derivative
/// times the factors of its user.
template <class Real>
struct ItemTerms {
  FactorItemGradients<Real> w;
  __device__ int64_t begin(int64_t sum) const { return w.starts[sum]; }
  __device__ int64_t size(int64_t sum) const { return w.starts[sum + 1] - w.starts[sum]; }
  __device__ Real scale(int64_t k) const { return w.upstream[w.order[k]]; }
  __device__ const Real* factors(int64_t k) const { return w.users.data + w.user_of[k] * w.width; }
};

/// Computes sums of scaled factors, with one block of threads per sum. The block consists of strands of
/// `lanes_per_row` threads. Each strand adds every strands-th term in order, and then the strands are added one after
/// another. So the bits of a sum depend on its own terms only.
template <class Real, int V, int Lanes, class Terms>
__global__ void __launch_bounds__(Lanes) run_factor_sums(int64_t count, const Terms terms) {
  constexpr int strands = Lanes / lanes_per_row, columns = lanes_per_row * V;
  __shared__ Real sums[strands][columns];
  const int part = static_cast<int>(threadIdx.x) % lanes_per_row,
            strand = static_cast<int>(threadIdx.x) / lanes_per_row;
  const int64_t width = terms.w.width;
  for (int64_t sum = blockIdx.x; sum < count; sum += gridDim.x) {
    const int64_t at = terms.begin(sum), n = terms.size(sum);
    for (int64_t from = 0; from < width; from += columns) {
      const int64_t c = from + part * V;
      Real total[V] = {};
      for (int64_t k = strand; k < n && c < width; k += strands) {
        const Real g = terms.scale(at + k);
        const Pack<Real, V> q = pack<Real, V>(terms.factors(at + k) + c);
        for (int v = 0; v < V; ++v) total[v] += g * q.at[v];
      }
      for (int v = 0; v < V; ++v) sums[strand][part * V + v] = total[v];
      __syncthreads();
      const int mine = static_cast<int>(threadIdx.x);
      if (mine < columns && from + mine < width) {
        Real all = 0;
        for (int s = 0; s < strands; ++s) all += sums[s][mine];
        terms.w.out[sum * width + from + mine] = all;
      }
      __syncthreads();
    }
  }
}

template <class Real>
void factor_user_gradients(int64_t count, const FactorUserGradients<Real>& w) {
  with_pack(w.items.data, w.out.data, w.width, [&](auto v) {
    launch(&run_factor_sums<Real, decltype(v)::value, 256, UserTerms<Real>>, blocks_for(count), 256, 0, count,
           UserTerms<Real>{w});
  });
}

/// Computes the items' gradients with blocks of 128 threads, because an item has fewer rows in a batch than a list
/// has.
template <class Real>
void factor_item_gradients(int64_t count, const FactorItemGradients<Real>& w) {
  with_pack(w.users.data, w.out.data, w.width, [&](auto v) {
    launch(&run_factor_sums<Real, decltype(v)::value, 128, ItemTerms<Real>>, blocks_for(count), 128, 0, count,
           ItemTerms<Real>{w});
  });
}

template <class Real>
void with_fast_forms(TrainingKernels<Real>& table) {
  table.factor_scores = &factor_scores<Real>;
  table.factor_user_gradients = &factor_user_gradients<Real>;
  table.factor_item_gradients = &factor_item_gradients<Real>;
}

}  // namespace
}  // namespace cuda

MR_CUDA_TABLE(TrainingKernels, float, cuda::with_fast_forms)
MR_CUDA_TABLE(TrainingKernels, double, cuda::with_fast_forms)

}  // namespace mr
