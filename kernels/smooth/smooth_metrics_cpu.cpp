#include "kernels/smooth/smooth_metrics_cpu.h"

#include "kernels/core/launch_cpu.h"
#include "kernels/smooth/near_pairs.h"
#include "kernels/smooth/pair_pieces.h"

namespace mr::cpu {
namespace {

/// The value pass, with the logarithms of some targets at a time.
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

/// Targets of the piece, by the plain form; in double for either type, as there.
template <class Real>
void rr_terms_piece(const SmoothRrTerms<Real>& w, const Piece& piece) {
  const int64_t list = piece.list;
  const auto by_ratios = [&](const Exponentials<Real, double>& e) {
    Scratch<double>& my = scratch<double>();
    const auto kept = my.in_use();
    const int64_t n = e.fill(my.sources, w.targets, list), at = w.targets.begin(list) + piece.first;
    e.fill(my.targets, w.targets, piece);
    my.sums.resize(static_cast<size_t>(piece.size()));
    pair_loops<double>().products(my.sources.data(), n, my.targets.data(), piece.size(), my.sums.data());
    // the product holds the target's own factor of 1/2
    for (int64_t i = 0; i < piece.size(); ++i) w.terms[at + i] = static_cast<Real>(2 * my.sums[i] / w.rank[at + i]);
  };
  const Real* const scores = w.scores.data + w.lists.begin(list);
  if (!with_exponentials<double>(scores, w.lists.size(list), w.gain, by_ratios) && piece.first == 0 &&
      !near_rr_terms(w, list)) {
    w(SerialGroup{}, list);
  }
}

template <class Real>
void rr_product_piece(const SmoothRrProductVjp<Real>& w, const Piece& piece) {
  const int64_t list = piece.list, p = w.targets.size(list);
  const auto by_ratios = [&](const Exponentials<Real, double>& e) {
    Scratch<double>& my = scratch<double>();
    const auto kept = my.in_use();
    const int64_t n = e.fill(my.sources, w.targets, list);
    e.fill(my.targets, w.targets, piece);
    my.weights.assign(static_cast<size_t>(n), 0.0);
    std::copy_n(w.terms.data + w.targets.begin(list), p, my.weights.begin());
    my.sums.resize(static_cast<size_t>(piece.size()));
    pair_loops<double>().ratio_differences(my.sources.data(), my.weights.data(), n, my.targets.data(),
                                           my.weights.data() + piece.first, piece.size(), my.sums.data());
    for (int64_t k = 0; k < piece.size(); ++k) {
      w.out[w.lists.begin(list) + w.targets(list, piece.first + k)] +=
          static_cast<Real>(w.upstream[list] * w.gain * my.sums[k]);
    }
  };
  const Real* const scores = w.scores.data + w.lists.begin(list);
  if (!with_exponentials<double>(scores, w.lists.size(list), w.gain, by_ratios) && piece.first == 0 &&
      !near_rr_product_vjp(w, list)) {
    w(SerialGroup{}, list);
  }
}

}  // namespace

template <class Real>
void smooth_ndcg(int64_t count, const SmoothNdcg<Real>& work) {
  if (work.v.upstream.data != nullptr) return Backend::lists(count, work);
  Backend::lists(count, NdcgValues<Real>{work});
}

template <class Real>
void smooth_rr_terms(int64_t count, const SmoothRrTerms<Real>& work) {
  for_each_piece(cut(work.targets, count, none_done), targets_of(work),
                 [&](const Piece& piece) { rr_terms_piece(work, piece); });
}

template <class Real>
void smooth_rr_product_vjp(int64_t count, const SmoothRrProductVjp<Real>& work) {
  for_each_piece(cut(work.targets, count, none_done), targets_of(work),
                 [&](const Piece& piece) { rr_product_piece(work, piece); });
}

template void smooth_ndcg<float>(int64_t, const SmoothNdcg<float>&);
template void smooth_ndcg<double>(int64_t, const SmoothNdcg<double>&);
template void smooth_rr_terms<float>(int64_t, const SmoothRrTerms<float>&);
template void smooth_rr_terms<double>(int64_t, const SmoothRrTerms<double>&);
template void smooth_rr_product_vjp<float>(int64_t, const SmoothRrProductVjp<float>&);
template void smooth_rr_product_vjp<double>(int64_t, const SmoothRrProductVjp<double>&);

}  // namespace mr::cpu
