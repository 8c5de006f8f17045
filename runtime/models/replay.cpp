#include "runtime/models/replay.h"

#include <algorithm>
#include <limits>

#include "kernels/models/rows.h"

namespace mr {
namespace {

template <class Real>
class ReplayOf final : public Replay {
 public:
  ReplayOf(const Tensor& parameter, const Tensor& mean, const Tensor& square, const StepRule& rule,
           const std::vector<uint8_t>& moved)
      : numbers_(static_cast<Real*>(bytes_of(parameter.storage()))),
        width_(parameter.shape().stride(0)),
        mean_(mean),
        square_(square),
        rule_(rule),
        since_(static_cast<size_t>(parameter.size(0)), 0) {
    for (size_t row = 0; row < moved.size(); ++row) since_[row] = moved[row] != 0 ? 0 : resting;
    steps_.reserve(most);
  }

  const StepRule& rule() const override { return rule_; }
  bool gone() const override { return gone_; }
  void* numbers() const override { return numbers_; }

  void settle() override {
    if (gone_ || settled_ == now()) return;
    replay(static_cast<int64_t>(since_.size()), [](int64_t i) { return i; });
    settled_ = now();
    // If no optimizer owns this object any more, nobody needs its means and squares: free them.
    if (weak_from_this().use_count() == 1) end();
  }
  void settle_rows(const int64_t* rows, int64_t count, int64_t row_bytes) override {
    if (row_bytes != width_ * static_cast<int64_t>(sizeof(Real))) return settle();
    if (gone_ || settled_ == now()) return;
    replay(count, [rows, count, this](int64_t i) {
      if (i + 16 < count) __builtin_prefetch(&since_[static_cast<size_t>(rows[i + 16] - 1)], 1);
      return rows[i] - 1;
    });
  }
  void let_go() override {
    if (gone_) return;
    settle();
    end();
  }

  void prepare(const Tensor& rows) override {
    if (steps_.size() == most) {
      settle();
      for (int32_t& since : since_) since = since == resting ? resting : 0;
      steps_.clear();
      settled_ = -1;
    }
    const Span<const int64_t> next = rows.span<const int64_t>();
    settle_rows(next.data, next.size, width_ * static_cast<int64_t>(sizeof(Real)));
    next_.assign(next.data, next.data + next.size);
  }

  void begin_step(double rate, double correction, double factor) override {
    steps_.push_back({static_cast<Real>(rate), static_cast<Real>(correction), static_cast<Real>(factor)});
    for (const int64_t row : next_) since_[static_cast<size_t>(row - 1)] = now();
  }

 private:
  // length of the log of steps. A row must not miss more steps, so when the log is full, all rows are updated and the
  // log is cleared.
  static constexpr size_t most = 4096;
  // value of `since_` for a row that never had a gradient and that steps without a gradient do not change
  static constexpr int32_t resting = -1;

  int32_t now() const { return static_cast<int32_t>(steps_.size()); }
  // Marks an entry of `since_` while its row waits to be replayed, so that a repeated row is not replayed twice.
  // Marking a marked value gives the original value.
  static int32_t marked(int32_t since) { return -2 - since; }

  /// Replays the updates that the rows row(0) to row(n - 1) have missed. If Ctrl-C interrupts it, rows that were not
  /// replayed keep their old values and are replayed later.
  template <class Row>
  void replay(int64_t n, Row row) {
    if (static_cast<int64_t>(rows_.size()) < n) {
      rows_.resize(static_cast<size_t>(n));
      from_.resize(static_cast<size_t>(n));
    }
    int64_t found = 0;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = row(i);
      int32_t& since = since_[static_cast<size_t>(at)];
      if (since < 0 || since == now()) continue;
      from_[static_cast<size_t>(found)] = since;
      rows_[static_cast<size_t>(found++)] = at;
      since = marked(since);
    }
    try {
      kernels<DeferredKernels<Real>>(Device::cpu).replay_rows(found * width_, work());
    } catch (...) {
      for (int64_t i = 0; i < found; ++i) {
        int32_t& since = since_[static_cast<size_t>(rows_[static_cast<size_t>(i)])];
        if (since < resting) since = marked(since);
      }
      throw;
    }
  }

  ReplayRows<Real> work() {
    return {.parameter = numbers_,
            .mean = rule_.has_mean() ? mean_.span<Real>().data : nullptr,
            .square = square_.span<Real>().data,
            .rows = rows_.data(),
            .from = from_.data(),
            .steps = steps_.data(),
            .since = since_.data(),
            .now = now(),
            .width = width_,
            .kind = rule_.kind,
            .beta1 = static_cast<Real>(rule_.beta1),
            .keep = static_cast<Real>(rule_.keep),
            .add = static_cast<Real>(rule_.add),
            .epsilon = static_cast<Real>(rule_.epsilon),
            .decay = static_cast<Real>(rule_.decay)};
  }

  void end() {
    gone_ = true;
    since_ = {};
    mean_ = square_ = Tensor();
  }

  Real* numbers_;
  int64_t width_;
  Tensor mean_, square_;
  StepRule rule_;
  // for each row of the parameter: how many of the logged `steps_` it includes, or `resting`
  std::vector<int32_t> since_;
  std::vector<MissedStep<Real>> steps_;
  std::vector<int64_t> rows_, next_;
  std::vector<int32_t> from_;
  // number of steps when `settle` last brought all rows up to date; -1: never since the log was cleared
  int32_t settled_ = -1;
  bool gone_ = false;
};

}  // namespace

std::shared_ptr<Replay> Replay::start(const Tensor& parameter, const Tensor& mean, const Tensor& square,
                                      const StepRule& rule, const std::vector<uint8_t>& moved) {
  return with_real(parameter.dtype(), [&]<class Real>() -> std::shared_ptr<Replay> {
    auto replay = std::make_shared<ReplayOf<Real>>(parameter, mean, square, rule, moved);
    parameter.storage().put_off(replay);
    return replay;
  });
}

bool Replay::possible(const StepRule& rule, Dtype dtype) {
  return dtype == Dtype::float32 ? static_cast<float>(rule.epsilon) > 0 : rule.epsilon > 0;
}

}  // namespace mr
