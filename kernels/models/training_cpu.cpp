#include "kernels/models/training_cpu.h"

#include <algorithm>

#include "kernels/core/launch_cpu.h"
#include "kernels/core/prefetch.h"
#include "kernels/models/layer_cpu.h"
#include "kernels/models/rows.h"

namespace mr {
namespace cpu {
namespace {

template <class Real>
struct FactorScoresByRow : FactorScores<Real> {
  template <class Group>
  void operator()(const Group&, int64_t list) const {
    const auto& w = *this;
    const int64_t at = w.lists.begin(list);
    training_loops<Real>().inner_products(
        w.users.data + w.user_of[list] * w.width,
        {w.items.data, w.item_of.data + at, nullptr, nullptr, w.lists.size(list), w.width}, w.scores.data + at);
  }
};

template <class Real>
struct FactorUserGradientsByRow : FactorUserGradients<Real> {
  template <class Group>
  void operator()(const Group&, int64_t list) const {
    const auto& w = *this;
    const int64_t at = w.lists.begin(list);
    training_loops<Real>().sum_rows(
        {w.items.data, w.item_of.data + at, w.upstream.data + at, nullptr, w.lists.size(list), w.width},
        w.out.data + list * w.width);
  }
};

template <class Real>
void factor_scores(int64_t count, const FactorScores<Real>& work) {
  Backend::lists(count, FactorScoresByRow<Real>{work});
}

template <class Real>
void factor_user_gradients(int64_t count, const FactorUserGradients<Real>& work) {
  Backend::lists(count, FactorUserGradientsByRow<Real>{work});
}

/// Returns the estimated time, in nanoseconds, of a vectorized loop over rows * width entries.
double layer_time(int64_t rows, int64_t width) {
  return 0.125 * static_cast<double>(rows) * static_cast<double>(width);
}

template <class Real>
void layer_forward(int64_t count, const LayerForward<Real>& w) {
  if (count == 0 || w.bias.size == 0) return;
  if (w.activation != Activation::none && w.activation != Activation::relu) return Backend::lists(count, w);
  const double time = layer_time(count, w.bias.size);
  parallel(count, tasks_of_piece(count, time),
           [&](int64_t first, int64_t last) { layer_loops<Real>().forward(w, first, last); });
}

template <class Real>
void layer_vjp(int64_t count, const LayerVjp<Real>& w) {
  if (count == 0 || w.width == 0) return;
  if (w.activation == Activation::softplus) return Backend::lists(count, w);
  const double time = layer_time(w.rows, w.width);
  parallel(count, tasks_of_piece(count, time),
           [&](int64_t first, int64_t last) { layer_loops<Real>().vjp(w, first, last); });
}

template <class Real>
void factor_item_gradients(int64_t count, const FactorItemGradients<Real>& w) {
  parallel(count, 128, [&](int64_t first, int64_t last) {
    const TrainingLoops<Real>& loops = training_loops<Real>();
    for (int64_t item = first; item < last; ++item) {
      const int64_t at = w.starts[item], n = w.starts[item + 1] - at;
      loops.sum_rows({w.users.data, w.user_of.data + at, w.upstream.data, w.order.data + at, n, w.width},
                     w.out.data + item * w.width);
    }
  });
}

template <class Real>
AdamRates<Real> rates_of(const AdamStep<Real>& w) {
  return {w.rate, w.correction, w.beta1, w.beta2, w.epsilon, w.decay};
}

/// Takes a step of Adam on the CPU. With a dense gradient, a thread treats its range of entries as one long row. With
/// a sparse gradient, a row's gradient is looked up once per row, not once per entry as in the reference form.
template <class Real>
void adam_step(int64_t count, const AdamStep<Real>& w) {
  const EntriesOfRows& moved = w.entries;
  if (moved.rows == nullptr && w.gradient.slot == nullptr) {
    return parallel(count, entries_of_piece, [&](int64_t first, int64_t last) {
      training_loops<Real>().adam({w.parameter + first, w.mean + first, w.square + first, w.gradient.values + first,
                                   nullptr, nullptr, last - first},
                                  0, 1, rates_of(w));
    });
  }
  if (count == 0) return;
  const int64_t width = w.gradient.width;
  const AdamRows<Real> at{w.parameter, w.mean, w.square, w.gradient.values, moved.rows, w.gradient.slot, width};
  parallel(count / width, rows_of_piece(width),
           [&](int64_t first, int64_t last) { training_loops<Real>().adam(at, first, last, rates_of(w)); });
}

template <class Real>
void adam_steps(int64_t count, const AdamSteps<Real>& w) {
  for (int k = 0; w.first[k] < count; ++k) adam_step(w.first[k + 1] - w.first[k], w.step[k]);
}

/// Takes an SgdStep or RootStep by rows: run(step, at, derivatives, n) takes the step for n consecutive entries. Each
/// entry uses the operations of the reference form, so the bits are equal. `second` is the optimizer's table of the
/// same shape as the parameter (velocity or squares); its rows are prefetched, too.
template <class Step, class Real>
void step_by_rows(int64_t count, const Step& w, const Real* second,
                  void (*run)(const Step& w, int64_t at, const Real* gradient, int64_t n)) {
  const EntriesOfRows& moved = w.entries;
  const int64_t* const slot = w.gradient.slot;
  if (moved.rows == nullptr && slot == nullptr) {
    return parallel(count, entries_of_piece,
                    [&](int64_t first, int64_t last) { run(w, first, w.gradient.values + first, last - first); });
  }
  if (count == 0) return;
  const int64_t width = w.gradient.width;
  parallel(count / width, rows_of_piece(width), [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      if (moved.rows != nullptr && i + rows_ahead < last) {
        for (const Real* const table : {static_cast<const Real*>(w.parameter), second})
          prefetch_row<true>(table, moved.rows[i + rows_ahead], width);
      }
      const int64_t row = moved.rows ? moved.rows[i] : i, from = slot ? slot[row] : row;
      if (from >= 0) run(w, row * width, w.gradient.values + from * width, width);
      for (int64_t c = 0; from < 0 && c < width; ++c) w(i * width + c);
    }
  });
}

template <class Real>
void sgd_step(int64_t count, const SgdStep<Real>& w) {
  step_by_rows<SgdStep<Real>, Real>(count, w, w.velocity, training_loops<Real>().sgd);
}
template <class Real>
void root_step(int64_t count, const RootStep<Real>& w) {
  step_by_rows<RootStep<Real>, Real>(count, w, w.square, training_loops<Real>().root);
}

template <class Real>
void with_fast_forms(TrainingKernels<Real>& table) {
  table.factor_scores = &factor_scores<Real>;
  table.factor_user_gradients = &factor_user_gradients<Real>;
  table.factor_item_gradients = &factor_item_gradients<Real>;
  table.layer_forward = &layer_forward<Real>;
  table.layer_vjp = &layer_vjp<Real>;
  table.sgd_step = &sgd_step<Real>;
  table.root_step = &root_step<Real>;
  table.adam_step = &adam_step<Real>;
  table.adam_steps = &adam_steps<Real>;
}

}  // namespace
}  // namespace cpu

MR_CPU_TABLE(TrainingKernels, float, cpu::with_fast_forms)
MR_CPU_TABLE(TrainingKernels, double, cpu::with_fast_forms)

}  // namespace mr
