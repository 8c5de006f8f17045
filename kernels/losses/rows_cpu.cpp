// Pointwise and listwise losses on the CPU. Some run in SIMD vectors, the others run the same code as the GPU. Losses
// whose time grows faster than the number of rows of a list check for Ctrl-C inside a list.
#include "kernels/core/launch_cpu.h"
#include "kernels/losses/gumbel.h"
#include "kernels/losses/neural/neural_matrix.h"
#include "kernels/losses/rows.h"
#include "kernels/losses/vector_losses.h"
#include "kernels/losses/vector_own_scores.h"
#include "kernels/losses/vector_sampled_pairs.h"
#include "kernels/losses/vector_soft_rank.h"
#include "kernels/losses/vector_top_ranks.h"

namespace mr {
namespace cpu {
namespace {

template <class Real>
void neural_ndcg(int64_t count, const NeuralNdcgLoss<Real>& work) {
  parallel_each(count, 1, [&](int64_t list) {
    static constinit thread_local OfThread<NeuralScratch> the_my;
    NeuralScratch& my = the_my.get();
    const auto kept = my.in_use();
    const int64_t n = work.lists.size(list), stride = my.resize(NeuralNdcgLoss<Real>::slots(work.kept()), n);
    work.of_list(InterruptibleGroup{}, list, my.matrix(n, stride), my.vectors.data(), stride);
  });
}

template <class Real>
void soft_rank(int64_t count, const SoftRankLoss<Real>& work) {
  parallel_each(count, 1, [&](int64_t list) { VectorSoftRank<Real>{work}(SerialGroup{}, list); });
}

template <class Real>
struct VectorRandomKeys : RandomKeys<Real> {
  template <class Group>
  void operator()(const Group&, int64_t task) const {
    const int64_t list = task % this->lists.count, ranking = task / this->lists.count * 2;
    const int64_t at = this->lists.begin(list), n = this->lists.size(list), rows = this->scores.size;
    static constinit thread_local OfThread<std::vector<double>> the_spare;
    std::vector<double>& spare = the_spare.get();
    const Kept kept(spare);
    double *const own = this->out.data + ranking * rows + at, *other = own + rows;
    if (ranking + 1 >= this->rankings) {
      spare.resize(static_cast<size_t>(n));
      other = spare.data();
    }
    gumbel_loops().noise(this->key, static_cast<uint64_t>(this->rows_before + at),
                         static_cast<uint64_t>((this->first + ranking) / 2), n, own, other);
    const Real* const scores = this->scores.data + at;
    double top = -HUGE_VAL;
    for (int64_t i = 0; i < n; ++i) top = scores[i] > top ? static_cast<double>(scores[i]) : top;
    for (int64_t i = 0; i < n; ++i) {
      const double score = difference(static_cast<double>(scores[i]), top);
      own[i] += score;
      other[i] += score;
    }
  }
};

/// Computes a loss by `Form`, a class that computes it in SIMD vectors. `Form` is derived from the loss's scalar
/// class, `Plain`, and has no further members.
template <class Form, class Plain>
void by_vectors(int64_t count, const Plain& work) {
  Backend::lists(count, Form{work});
}

template <class Real>
void with_fast_forms(RowLossKernels<Real>& table) {
  table.listnet = &by_vectors<VectorCrossEntropy<Real, SoftmaxOfGrades>>;
  table.softmax_cross_entropy = &by_vectors<VectorCrossEntropy<Real, Grades>>;
  table.binary_cross_entropy = &by_vectors<VectorBinaryCrossEntropy<Real>>;
  table.ordinal = &by_vectors<VectorOrdinal<Real>>;
  table.bpr = &bpr_by_vectors<Real>;
  table.climf = &by_vectors<VectorOwnScores<Real, Climf>>;
  table.tfmap = &by_vectors<VectorOwnScores<Real, Tfmap>>;
  table.top_sigmoid = &by_vectors<VectorTopRanks<Real>>;
  table.soft_rank = &soft_rank<Real>;
  table.random_keys = &by_vectors<VectorRandomKeys<Real>>;
  table.neural_ndcg = &neural_ndcg<Real>;
}

}  // namespace
}  // namespace cpu

MR_CPU_TABLE(RowLossKernels, float, cpu::with_fast_forms)
MR_CPU_TABLE(RowLossKernels, double, cpu::with_fast_forms)

}  // namespace mr
