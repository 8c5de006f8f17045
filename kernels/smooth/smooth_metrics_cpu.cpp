#include "kernels/smooth/smooth_metrics_cpu.h"

#include "kernels/core/launch_cpu.h"
#include "kernels/smooth/pair_pieces.h"

namespace mr::cpu {
namespace {

/// Computes smooth nDCG on the CPU, with the logarithms of several rows at a time in vector registers.
template <class Real>
struct NdcgValues : SmoothNdcg<Real> {
  template <class Group>
  void operator()(const Group&, int64_t list) const {
    constexpr int64_t together = 256;
    double values[together], slopes[together], dcg = 0;
    const auto& w = *this;
    const int64_t at = w.v.targets.begin(list), p = w.v.targets.size(list);
    const float* const y = w.relevance.data + w.lists.begin(list);
    for (int64_t first = 0; first < p; first += together) {
      const int64_t n = std::min(together, p - first);
      pair_loops<Real>().discounts(w.v.rank.data + at + first, n, values, slopes);
      for (int64_t i = 0; i < n; ++i) {
        const double gain = gain_of(y[w.v.targets(list, first + i)]);
        if (w.slope.data != nullptr) w.slope[at + first + i] = gain * slopes[i];
        dcg += gain * values[i];
      }
    }
    w.v.value[list] = static_cast<Real>(p > 0 ? dcg / w.ideal[list] : 0);
  }
};

}  // namespace

template <class Real>
void smooth_ndcg(int64_t count, const SmoothNdcg<Real>& work) {
  if (work.v.upstream.data != nullptr) return Backend::lists(count, work);
  Backend::lists(count, NdcgValues<Real>{work});
}

template void smooth_ndcg<float>(int64_t, const SmoothNdcg<float>&);
template void smooth_ndcg<double>(int64_t, const SmoothNdcg<double>&);

}  // namespace mr::cpu
