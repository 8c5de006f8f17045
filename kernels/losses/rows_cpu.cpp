// Pointwise and listwise losses on the CPU. Some compute exponentials by vectors, the others run the plain form. Losses
// whose time grows faster than the rows of a list check for Ctrl-C inside a list.
#include "kernels/core/launch_cpu.h"
#include "kernels/losses/neural/neural_matrix.h"
#include "kernels/losses/rows.h"
#include "kernels/losses/vector_losses.h"
#include "kernels/losses/vector_own_scores.h"
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

/// `Form` is derived from the plain form and has no further members.
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
  table.climf = &by_vectors<VectorOwnScores<Real, Climf>>;
  table.tfmap = &by_vectors<VectorOwnScores<Real, Tfmap>>;
  table.top_sigmoid = &by_vectors<VectorTopRanks<Real>>;
  table.soft_rank = &soft_rank<Real>;
  table.neural_ndcg = &neural_ndcg<Real>;
}

}  // namespace
}  // namespace cpu

MR_CPU_TABLE(RowLossKernels, float, cpu::with_fast_forms)
MR_CPU_TABLE(RowLossKernels, double, cpu::with_fast_forms)

}  // namespace mr
