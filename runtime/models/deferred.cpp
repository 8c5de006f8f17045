#include "runtime/models/deferred.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/models/rows.h"
#include "runtime/models/deferred_snapshot.h"

namespace mr {
namespace {

/// Returns the number that stands for a kind of optimizer in files with deferred updates (0: SGD, 1: Adam, 2: RMSProp).
double number_of(StepKind kind) { return kind == StepKind::sgd ? 0 : kind == StepKind::adam ? 1 : 2; }

template <class Real>
class DeferredOf final : public Deferred, public DeferredSource<Real> {
 public:
  DeferredOf(const Tensor& parameter, const Moments& moments, const GlideMethod& method, int32_t steps)
      : shown_(static_cast<Real*>(bytes_of(parameter.storage()))),
        shape_(parameter.shape()),
        width_(shape_.stride(0)),
        stored_(Tensor::empty({parameter.size(0), width_ * method.tables()}, parameter.dtype())),
        log_(method, steps),
        times_(static_cast<size_t>(parameter.size(0)), {steps, steps}) {
    if (steps == 0 && !method.moves_all()) return;
    const Span<const Real> values = parameter.span<const Real>();
    for (int64_t row = 0; row < count(); ++row) {
      const StoredRow<Real> at = stored(row);
      const auto copy = [&](Real* to, const Real* from) { std::copy_n(from + row * width_, width_, to); };
      begin_row(at, values.data + row * width_);
      if (at.mean != nullptr && moments.mean.defined()) copy(at.mean, moments.mean.span<const Real>().data);
      if (at.square != nullptr && moments.square.defined()) copy(at.square, moments.square.span<const Real>().data);
    }
  }

  /// Restores a state of deferred updates from a file. `off`, the state, has passed `Deferred::check`.
  DeferredOf(const Tensor& parameter, const PutOff& off, const GlideMethod& method, int32_t now)
      : shown_(static_cast<Real*>(bytes_of(parameter.storage()))),
        shape_(parameter.shape()),
        width_(shape_.stride(0)),
        stored_(off.rows.clone()),
        log_(method, now - static_cast<int32_t>(off.rates.entries())),
        times_(static_cast<size_t>(parameter.size(0))),
        all_shown_(now) {
    const Span<const double> rates = off.rates.span<const double>();
    for (int64_t i = 0; i < rates.size; ++i) log_.append(rates[i]);
    const Span<const int64_t> steps = off.stored.span<const int64_t>();
    for (int64_t row = 0; row < count(); ++row) {
      const auto step = static_cast<int32_t>(steps[row]);
      times_[static_cast<size_t>(row)] = {step, unmoved(step) ? 0 : now};
    }
  }

  PutOff put_off() const override {
    const GlideMethod& how = log_.method();
    PutOff off{stored_.clone(), Tensor::empty({count()}, Dtype::int64), Tensor::from(log_.rates()),
               Tensor::from(std::vector<double>{how.beta1, how.beta2, how.epsilon, number_of(how.kind), how.decay})};
    const int64_t wide = stored_.size(1);
    for (int64_t row = 0; row < count(); ++row) {
      off.stored.template span<int64_t>().data[row] = stored_in(row);
      if (unmoved(stored_in(row))) std::fill_n(off.rows.template span<Real>().data + row * wide, wide, Real(0));
    }
    return off;
  }

  const GlideMethod& method() const override { return log_.method(); }
  bool gone() const override { return gone_; }
  bool is_of(const Tensor& tensor) const override {
    return !gone_ && tensor.whole() && tensor.dims() > 0 && tensor.shape().stride(0) == width_;
  }

  void settle() override {
    if (gone_ || all_shown_ == log_.now()) return;
    show(count(), [](int64_t row) { return row; });
    all_shown_ = log_.now();
    // If no optimizer and no snapshot owns this object any more, nobody needs the stored rows: free them.
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
    const auto table = [&](bool is_there) { return is_there ? Tensor::zeros(shape_, dtype_of<Real>) : Tensor(); };
    const Tensor mean = table(log_.method().has_mean()), square = table(log_.method().has_square());
    store([](int32_t) { return true; });
    for (int64_t row = 0; row < count(); ++row) {
      if (stored_in(row) == 0) continue;
      const StoredRow<Real> at = stored(row);
      if (mean.defined()) std::copy_n(at.mean, width_, mean.span<Real>().data + row * width_);
      if (square.defined()) std::copy_n(at.square, width_, square.span<Real>().data + row * width_);
    }
    moments_ = {mean, square};
    end();
  }
  const Moments& moments() const override { return moments_; }

  void prepare(const Gradient& once) override {
    if ((log_.now() + 1) % (StepLog::kept / 2) == 0)
      store([latest = log_.now() - StepLog::kept / 2](int32_t stored) { return stored <= latest; });
    const Span<const int64_t> rows = once.rows.span<const int64_t>();
    next_.rows.resize(static_cast<size_t>(rows.size));
    next_.glide.resize(static_cast<size_t>(rows.size));
    std::transform(rows.data, rows.data + rows.size, next_.rows.begin(), [](int64_t row) { return row - 1; });
    keep_for_snapshots(next_.rows);
    const int64_t* const moved = next_.rows.data();
    const Times* const times = times_.data();
    int32_t* const glides = next_.glide.data();
    const int32_t now = log_.now();
    for (int64_t i = 0; i < rows.size; ++i) {
      const auto [stored, shown] = times[moved[i]];
      if (unmoved(stored)) begin_row(this->stored(moved[i]), shown_ + moved[i] * width_);
      const int32_t behind = unmoved(stored) || stored == now ? -1 : glide(stored);
      const bool is_shown = behind >= 0 && shown == now;
      glides[i] = is_shown ? DeferredRows<Real>::shown_glide(behind) : behind;
    }
    values_ = once.values;
  }

  void step(double lr) override {
    const GlideMethod& how = log_.method();
    const AdamRate rate = how.adam() ? adam_rate(lr, how.beta1, how.beta2, log_.now() + 1, false) : AdamRate{lr, 1};
    const StepRows<Real> work{.at = view(next_),
                              .gradient = values_.template span<const Real>().data,
                              .shown = shown_,
                              .rate = static_cast<Real>(rate.rate),
                              .correction = static_cast<Real>(rate.correction),
                              .beta1 = static_cast<Real>(how.beta1),
                              .beta2 = static_cast<Real>(how.beta2),
                              .epsilon = static_cast<Real>(how.epsilon),
                              .add = static_cast<Real>(1 - how.beta2),
                              .decay = static_cast<Real>(how.adam() ? 0 : how.decay),
                              .factor = static_cast<Real>(1 - lr * how.decay)};
    log_.append(lr);
    const Times now{log_.now(), log_.now()};
    for (const int64_t row : next_.rows) times_[static_cast<size_t>(row)] = now;
    kernels<DeferredKernels<Real>>(Device::cpu).step_rows(static_cast<int64_t>(next_.rows.size()) * width_, work);
    values_ = Tensor();
  }

  Tensor snapshot(const Tensor& parameter, const Tensor& into) override {
    auto [tensor, log] = snapshot_in<Real>(parameter, into);
    log->begin(std::static_pointer_cast<DeferredOf>(this->shared_from_this()), parameter);
    std::erase_if(snapshots_, [log = log](const auto& each) { return each.expired() || each.lock() == log; });
    snapshots_.push_back(log);
    return tensor;
  }

  // Returns the log of the optimizer's steps. Snapshots read it.
  const StepLog& log() const override { return log_; }
  int32_t stored_in(int64_t row) const override { return times_[static_cast<size_t>(row)].stored; }
  const Real* shown() const override { return shown_; }
  DeferredRows<Real> view(const RowBatch& batch, const Glides<Real>& glides) const override {
    return {.stored = stored_.template span<Real>().data,
            .kind = log_.method().kind,
            .has_mean = log_.method().has_mean(),
            .has_square = log_.method().has_square(),
            .rows = batch.rows.data(),
            .glide = batch.glide.data(),
            .glides = glides.list(),
            .weights = glides.weights(),
            .places = glides.places(),
            .width = width_};
  }

 private:
  struct Times {
    // stored: the last optimizer step that the stored row includes; shown: the last one that the row in the parameter's
    // own bytes includes; 0: initial values
    int32_t stored, shown;
  };

  int64_t count() const { return static_cast<int64_t>(times_.size()); }
  /// Returns true if no step has changed a row whose last step is `stored`. Then only the parameter has the row's
  /// (initial) values, and its stored row is not initialized.
  bool unmoved(int32_t stored) const { return stored == 0 && !log_.method().moves_all(); }
  StoredRow<Real> stored(int64_t row) const { return view(next_).row(row); }
  /// Initializes the stored row of a parameter's row before its first step: the parameter's values, and moments of 0.
  void begin_row(const StoredRow<Real>& row, const Real* values) const {
    std::copy_n(values, width_, row.base);
    if (row.mean != nullptr) std::fill_n(row.mean, width_, Real(0));
    if (row.square != nullptr) std::fill_n(row.square, width_, Real(0));
  }
  DeferredRows<Real> view(const RowBatch& batch) const { return view(batch, glides_); }

  int32_t glide(int32_t stored) {
    if (glides_.until() != log_.now()) glides_.restart(log_.now());
    return glides_.of(log_, stored);
  }

  /// Applies deferred updates to the rows row(0) to row(n - 1) in the parameter's bytes, which readers see. If memory
  /// runs out or Ctrl-C is pressed, rows may be unfinished: they are marked as stale and computed again by the next
  /// call.
  template <class Row>
  void show(int64_t n, Row row) {
    batch_.make_room(n);
    Times* const times = times_.data();
    int64_t *const rows = batch_.rows.data(), found = 0;
    int32_t* const glides = batch_.glide.data();
    const int32_t now = log_.now();
    try {
      for (int64_t i = 0; i < n; ++i) {
        const int64_t at = row(i);
        const auto [stored, shown] = times[at];
        if (shown == now || log_.rests(stored, shown)) continue;
        glides[found] = glide(stored);
        rows[found++] = at;
        times[at].shown = now;
      }
      kernels<DeferredKernels<Real>>(Device::cpu).settle_rows(found * width_, {.at = view(batch_), .out = shown_});
    } catch (...) {
      for (int64_t i = 0; i < found; ++i) times[rows[i]].shown = times[rows[i]].stored;
      throw;
    }
  }

  /// Applies deferred updates to stored rows: to each row for which choose(last step that the row includes) is true.
  template <class Choose>
  void store(Choose choose) {
    std::vector<int64_t> rows;
    for (int64_t row = 0; row < count(); ++row) {
      const int32_t stored = stored_in(row);
      if (!unmoved(stored) && stored < log_.now() && choose(stored)) rows.push_back(row);
    }
    keep_for_snapshots(rows);
    show(static_cast<int64_t>(rows.size()), [&](int64_t i) { return rows[static_cast<size_t>(i)]; });
    for (const int64_t row : rows) {
      const StoredRow<Real> at = stored(row);
      const int32_t number = glide(stored_in(row));
      const Glide<Real>& left = glides_.list()[number];
      for (int64_t c = 0; c < width_; ++c) {
        if (at.mean != nullptr) at.mean[c] *= left.mean_left;
        if (at.mean != nullptr && left.pull != 0) at.mean[c] += left.pull * at.base[c];
        if (at.square != nullptr) at.square[c] *= left.square_left;
      }
      std::copy_n(shown_ + row * width_, width_, at.base);
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
    stored_ = Tensor();
  }

  Real* shown_;
  Shape shape_;
  int64_t width_;
  // stored_: a StoredRow for every row of the parameter; values_: gradient of the step being prepared
  Tensor stored_, values_;
  Moments moments_;
  StepLog log_;
  std::vector<Times> times_;
  Glides<Real> glides_;
  RowBatch batch_, next_;
  std::vector<std::weak_ptr<DeferredSnapshot<Real>>> snapshots_;
  int32_t all_shown_ = -1;
  bool gone_ = false;
};

}  // namespace

std::shared_ptr<Deferred> Deferred::start(const Tensor& parameter, const Moments& moments, const GlideMethod& method,
                                          int64_t steps) {
  return with_real(parameter.dtype(), [&]<class Real>() -> std::shared_ptr<Deferred> {
    auto deferred = std::make_shared<DeferredOf<Real>>(parameter, moments, method, static_cast<int32_t>(steps));
    parameter.storage().put_off(deferred);
    return deferred;
  });
}

namespace {

void expect(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(std::string("the deferred updates in the file cannot be applied: ") + what);
}

GlideMethod method_of(const Tensor& settings, Dtype dtype) {
  // number of settings; files that were written before weight decay could be deferred have 4
  const int64_t given = settings.entries();
  expect(settings.dtype() == Dtype::float64 && (given == 4 || given == 5),
         "tensor 'settings' does not have five float64 numbers");
  const Span<const double> at = settings.span<const double>();
  const StepKind kind = at[3] == 0 ? StepKind::sgd : at[3] == 1 ? StepKind::adam : StepKind::root;
  const GlideMethod method{kind, at[0], at[1], at[2], given == 5 ? at[4] : 0};
  const auto share = [](double beta) { return beta >= 0 && beta <= 1; };
  expect(share(method.beta1) && method.beta1 < 1 && share(method.beta2) && method.epsilon >= 0 && method.decay >= 0 &&
             std::isfinite(method.decay) && at[3] == number_of(kind) && StepLog::possible(method, dtype),
         "tensor 'settings' has options of an optimizer that cannot defer updates");
  return method;
}

void check_put_off(const Tensor& parameter, const PutOff& off, const GlideMethod& method, int64_t now) {
  expect(parameter.device() == Device::cpu && parameter.whole() && parameter.dims() > 0 && parameter.entries() > 0,
         "their parameter is not a matrix with entries on the CPU");
  const int64_t width = parameter.shape().stride(0) * (method.tables());
  expect(off.rows.dtype() == parameter.dtype() && off.rows.shape() == Shape({parameter.size(0), width}),
         "tensor 'rows' does not have the shape and the dtype that the parameter requires");
  expect(off.stored.dtype() == Dtype::int64 && off.stored.shape() == Shape({parameter.size(0)}),
         "tensor 'stored' does not have one int64 for each row of the parameter");
  expect(off.rates.dtype() == Dtype::float64 && off.rates.dims() == 1, "tensor 'rates' is not a float64 vector");
  expect(now >= off.rates.entries() && now <= std::numeric_limits<int32_t>::max() - StepLog::kept &&
             off.rates.entries() < StepLog::kept,
         "tensor 'rates' has more learning rates than the optimizer made steps, or more than it keeps");
  const Span<const double> rates = off.rates.span<const double>();
  for (int64_t i = 0; i < rates.size; ++i)
    expect(rates[i] > 0 && std::isfinite(rates[i]) && (!method.adam() || rates[i] * method.decay < 1),
           "tensor 'rates' has a learning rate that is not positive and finite, or that times the weight decay is 1 or "
           "more");
  const Span<const int64_t> stored = off.stored.span<const int64_t>();
  for (int64_t i = 0; i < stored.size; ++i)
    expect((stored[i] == 0 && !method.moves_all()) ||
               (stored[i] >= 0 && stored[i] >= now - rates.size && stored[i] <= now),
           "tensor 'stored' has the number of a step without a learning rate in 'rates'");
}

}  // namespace

void Deferred::check(const Tensor& parameter, const PutOff& off, int64_t now) {
  check_put_off(parameter, off, method_of(off.settings, parameter.dtype()), now);
}

std::shared_ptr<Deferred> Deferred::resume(const Tensor& parameter, const PutOff& off, int64_t now) {
  const GlideMethod method = method_of(off.settings, parameter.dtype());
  return with_real(parameter.dtype(), [&]<class Real>() -> std::shared_ptr<Deferred> {
    auto deferred = std::make_shared<DeferredOf<Real>>(parameter, off, method, static_cast<int32_t>(now));
    parameter.storage().put_off(deferred);
    return deferred;
  });
}

}  // namespace mr
