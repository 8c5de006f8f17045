#include "kernels/models/deferred/deferred_cpu.h"

#include <algorithm>

#include "kernels/core/launch_cpu.h"
#include "kernels/models/deferred/replay_cpu.h"
#include "kernels/models/rows.h"

namespace mr {
namespace cpu {
namespace {

/// Divides the rows of `work`, which have `count` entries in all, among the threads: calls loop(work, first, last) for
/// ranges of rows.
template <class Work>
void by_row(int64_t count, const Work& work, void (*loop)(const Work& work, int64_t first, int64_t last)) {
  if (count == 0) return;
  parallel(count / work.at.width, rows_of_piece(work.at.width),
           [&](int64_t first, int64_t last) { loop(work, first, last); });
}

template <class Real>
void settle_rows(int64_t count, const SettleRows<Real>& work) {
  by_row(count, work, deferred_loops<Real>().settle);
}

template <class Real>
void step_rows(int64_t count, const StepRows<Real>& work) {
  by_row(count, work, deferred_loops<Real>().step);
}

template <class Real>
void replay_rows(int64_t count, const ReplayRows<Real>& work) {
  if (count == 0) return;
  parallel(count / work.width, rows_of_piece(work.width),
           [&](int64_t first, int64_t last) { replay_loops<Real>().replay(work, first, last); });
}

template <class Real>
void with_fast_forms(DeferredKernels<Real>& table) {
  table.settle_rows = &settle_rows<Real>;
  table.step_rows = &step_rows<Real>;
  table.replay_rows = &replay_rows<Real>;
}

}  // namespace
}  // namespace cpu

MR_CPU_TABLE(DeferredKernels, float, cpu::with_fast_forms)
MR_CPU_TABLE(DeferredKernels, double, cpu::with_fast_forms)

}  // namespace mr
