#include "runtime/models/deferred.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/models/rows.h"
#include "runtime/models/deferred_snapshot.h"

namespace mr {
namespace {

template <class Real>
class DeferredOf final : public Deferred, public DeferredSource<Real> {
 public:
  DeferredOf(const Tensor& parameter, Tensor mean, Tensor square, const GlideMethod& method, int32_t steps)
      : shown_(static_cast<Real*>(bytes_of(parameter.storage()))),
        width_(parameter.shape().stride(0)),
        base_(steps > 0 ? parameter.clone() : Tensor::empty(parameter.shape(), parameter.dtype())),
        mean_(std::move(mean)),
        square_(std::move(square)),
        log_(method, steps),
        times_(static_cast<size_t>(parameter.size(0)), {steps, steps}) {}

  const GlideMethod& method() const override { return log_.method(); }
  bool gone() const override { return gone_; }
  bool is_of(const Tensor& tensor) const override {
    return !gone_ && tensor.whole() && tensor.dims() > 0 && tensor.shape().stride(0) == width_;
  }

  void settle() override {
    if (gone_ || all_shown_ == log_.now()) return;
    show(count(), [](int64_t row) { return row; });
    all_shown_ = log_.now();
    // no optimiser goes on, and no snapshot needs what is stored
    if (this->weak_from_this().use_count() == 1) end();
  }

  void settle_rows(const int64_t* rows, int64_t n, int64_t row_bytes) override {
    if (row_bytes != width_ * static_cast<int64_t>(sizeof(Real))) return settle();
    if (gone_ || all_shown_ == log_.now()) return;
    show(n, [this, rows, n](int64_t i) {
      if (i + 16 < n) __builtin_prefetch(&times_[static_cast<size_t>(rows[i + 16] - 1)], 1);
      return rows[i] - 1;
    });
  }

  void let_go() override {
    if (gone_) return;
    store([](int32_t) { return true; });
    end();
  }

  void prepare(const Gradient& once) override {
    if ((log_.now() + 1) % (StepLog::kept / 2) == 0)
      store([latest = log_.now() - StepLog::kept / 2](int32_t stored) { return stored <= latest; });
    const Span<const int64_t> rows = once.rows.span<const int64_t>();
    next_.begin(rows.size);
    for (int64_t i = 0; i < rows.size; ++i) next_.rows.push_back(rows[i] - 1);
    keep_for_snapshots(next_.rows);
    for (const int64_t row : next_.rows) {
      const int32_t stored = times_[static_cast<size_t>(row)].stored;
      if (stored == 0) std::memcpy(base() + row * width_, shown_ + row * width_, row_bytes());
      next_.glide.push_back(stored == 0 || stored == log_.now() ? -1 : glide(stored));
    }
    values_ = once.values;
  }

  void step(double lr) override {
    const GlideMethod& how = log_.method();
    const AdamRate rate = adam_rate(lr, how.beta1, how.beta2, log_.now() + 1, false);
    const StepRows<Real> work{.at = view(next_),
                              .gradient = values_.template span<const Real>().data,
                              .shown = shown_,
                              .rate = static_cast<Real>(how.adam ? rate.rate : lr),
                              .correction = static_cast<Real>(rate.correction),
                              .beta1 = static_cast<Real>(how.beta1),
                              .beta2 = static_cast<Real>(how.beta2),
                              .epsilon = static_cast<Real>(how.epsilon)};
    log_.append(lr);
    for (const int64_t row : next_.rows) times_[static_cast<size_t>(row)] = {log_.now(), log_.now()};
    kernels<DeferredKernels<Real>>(Device::cpu).step_rows(static_cast<int64_t>(next_.rows.size()) * width_, work);
    values_ = Tensor();
  }

  Tensor snapshot(const Tensor& parameter, const Tensor& into) override {
    auto [tensor, log] = snapshot_in<Real>(parameter, into);
    log->begin(std::static_pointer_cast<DeferredOf>(this->shared_from_this()), parameter);
    std::erase_if(snapshots_, [&](const auto& each) { return each.expired() || each.lock() == log; });
    snapshots_.push_back(log);
    return tensor;
  }

  // what snapshots look at
  const StepLog& log() const override { return log_; }
  int32_t stored_in(int64_t row) const override { return times_[static_cast<size_t>(row)].stored; }
  const Real* shown() const override { return shown_; }
  DeferredRows<Real> view(const RowBatch& batch, const Glides<Real>& glides) const override {
    return {.base = base(),
            .mean = mean_.template span<Real>().data,
            .square = square_.defined() ? square_.template span<Real>().data : nullptr,
            .rows = batch.rows.data(),
            .glide = batch.glide.data(),
            .glides = glides.list(),
            .weights = glides.weights(),
            .places = glides.places(),
            .width = width_};
  }

 private:
  struct Times {
    int32_t stored, shown;  // the steps that the stored row, and the one that is shown, are after; 0: as it began
  };

  int64_t count() const { return static_cast<int64_t>(times_.size()); }
  Real* base() const { return base_.template span<Real>().data; }
  size_t row_bytes() const { return static_cast<size_t>(width_) * sizeof(Real); }
  DeferredRows<Real> view(const RowBatch& batch) const { return view(batch, glides_); }

  int32_t glide(int32_t stored) {
    if (glides_.until() != log_.now()) glides_.restart(log_.now());
    return glides_.of(log_, stored);
  }

  void show_later(int64_t row) {
    Times& time = times_[static_cast<size_t>(row)];
    if (time.stored == 0 || time.shown == log_.now() || time.shown - time.stored >= log_.rest()) return;
    batch_.glide.push_back(glide(time.stored));
    batch_.rows.push_back(row);
    time.shown = log_.now();
  }

  /// Brings rows row(0) to row(n - 1) up to date where others see them. What lack of memory or Ctrl-C stops is not
  /// counted as shown.
  template <class Row>
  void show(int64_t n, Row row) {
    batch_.begin(n);
    try {
      for (int64_t i = 0; i < n; ++i) show_later(row(i));
      kernels<DeferredKernels<Real>>(Device::cpu)
          .settle_rows(static_cast<int64_t>(batch_.rows.size()) * width_, {.at = view(batch_), .out = shown_});
    } catch (...) {
      for (const int64_t shown : batch_.rows) {
        Times& time = times_[static_cast<size_t>(shown)];
        time.shown = time.stored;
      }
      throw;
    }
  }

  /// Stores the rows whose step is chosen as they are now.
  template <class Choose>
  void store(Choose choose) {
    std::vector<int64_t> rows;
    for (int64_t row = 0; row < count(); ++row) {
      const int32_t stored = stored_in(row);
      if (stored > 0 && stored < log_.now() && choose(stored)) rows.push_back(row);
    }
    keep_for_snapshots(rows);
    show(static_cast<int64_t>(rows.size()), [&](int64_t i) { return rows[static_cast<size_t>(i)]; });
    Real* const means = mean_.template span<Real>().data;
    Real* const squares = square_.defined() ? square_.template span<Real>().data : nullptr;
    for (const int64_t row : rows) {
      const int64_t first = row * width_;
      const int32_t steps = log_.now() - stored_in(row);
      const auto mean_left = static_cast<Real>(log_.mean_left(steps)),
                 square_left = static_cast<Real>(log_.square_left(steps));
      std::memcpy(base() + first, shown_ + first, row_bytes());
      for (int64_t e = first; e < first + width_; ++e) {
        means[e] *= mean_left;
        if (squares != nullptr) squares[e] *= square_left;
      }
      times_[static_cast<size_t>(row)] = {log_.now(), log_.now()};
    }
  }

  void keep_for_snapshots(const std::vector<int64_t>& rows) {
    for (const auto& each : snapshots_) {
      if (const auto snapshot = each.lock()) snapshot->keep(*this, rows);
    }
  }

  void end() {
    for (const auto& each : snapshots_) {
      if (const auto snapshot = each.lock()) snapshot->settle();
    }
    gone_ = true;
    snapshots_.clear();
    times_ = {};
    base_ = mean_ = square_ = Tensor();
  }

  Real* shown_;
  int64_t width_;
  Tensor base_, mean_, square_, values_;
  StepLog log_;
  std::vector<Times> times_;
  Glides<Real> glides_;
  RowBatch batch_, next_;
  std::vector<std::weak_ptr<DeferredSnapshot<Real>>> snapshots_;
  int32_t all_shown_ = -1;
  bool gone_ = false;
};

}  // namespace

std::shared_ptr<Deferred> Deferred::start(const Tensor& parameter, const Tensor& mean, const Tensor& square,
                                          const GlideMethod& method, int64_t steps) {
  return with_real(parameter.dtype(), [&]<class Real>() -> std::shared_ptr<Deferred> {
    auto deferred = std::make_shared<DeferredOf<Real>>(parameter, mean, square, method, static_cast<int32_t>(steps));
    parameter.storage().put_off(deferred);
    return deferred;
  });
}

}  // namespace mr
