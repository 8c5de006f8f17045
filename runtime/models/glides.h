// Closed forms of the updates that rows of a parameter have deferred, called glides (kernels/models/deferred/glide.h).
// A glide is the sum of all updates since the step in which a row was last updated. Rows that were last updated in the
// same step share one, and it is computed on first use.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "runtime/models/step_log.h"

namespace mr {

/// A copy of the newest numbers of a StepLog, made after an earlier step, because later steps change these numbers.
struct RecentLog {
  // For each of the last `StepLog::rest` steps t0: weights of the steps after t0, summed. From these sums the delayed
  // updates of a row without a gradient since t0 are computed.
  std::vector<GlideSums> sums;
  StepProducts::Recent products;
};

template <class Real>
class Glides {
 public:
  /// Starts a new set of glides (closed forms): each sums the updates until step `until`. That is the last step in the
  /// log, or the step after which `recent` was copied.
  void restart(int32_t until, const RecentLog* recent = nullptr) {
    until_ = until;
    recent_ = recent;
    if (entries_.empty()) entries_.resize(static_cast<size_t>(StepLog::kept));
    ++version_;
    list_.clear();
    weights_.clear();
    places_.clear();
  }
  int32_t until() const { return until_; }

  /// Returns the number of the glide (closed form of deferred updates) for rows that were last updated in step t0 <
  /// until.
  int32_t of(const StepLog& log, int32_t t0) {
    Entry& entry = entries_[static_cast<size_t>(t0 % StepLog::kept)];
    if (entry.version == version_) return entry.number;
    add(log, t0);
    entry = {version_, static_cast<int32_t>(list_.size()) - 1};
    return entry.number;
  }

  const Glide<Real>* list() const { return list_.data(); }
  const Real* weights() const { return weights_.data(); }
  const Real* places() const { return places_.data(); }

 private:
  struct Entry {
    int64_t version = 0;
    int32_t number = 0;
  };
  /// relative error that is allowed in the glide, the sum of updates that is subtracted from a row: a few rounding
  /// errors
  static constexpr double tolerance = sizeof(Real) == 4 ? 2e-7 : 1e-12;

  const GlideSums& sums(const StepLog& log, int32_t t0) const {
    const int32_t first = until_ - log.rest() + 1;
    return recent_ == nullptr || t0 < first ? log.sums(t0) : recent_->sums[static_cast<size_t>(t0 - first)];
  }
  LinearStep product(const StepLog& log, int32_t t0) const {
    return log.products().of(recent_ == nullptr ? log.products().recent() : recent_->products, t0);
  }

  void add(const StepLog& log, int32_t t0) {
    const int32_t steps = until_ - t0;
    Glide<Real> glide{};
    glide.square_left = static_cast<Real>(log.square_left(steps));
    if (log.linear()) {
      const LinearStep all = product(log, t0);
      glide.kept = static_cast<Real>(all.pp);
      glide.top[0] = static_cast<Real>(-all.pm);
      glide.pull = static_cast<Real>(all.mp);
      glide.mean_left = static_cast<Real>(all.mm);
    } else {
      glide.mean_left = static_cast<Real>(log.mean_left(steps));
      if (log.method().adam()) {
        add_adam(log, t0, glide);
      } else {
        glide.top[0] = static_cast<Real>(sums(log, t0).moment[0]);
      }
    }
    list_.push_back(glide);
  }

  void add_adam(const StepLog& log, int32_t t0, Glide<Real>& glide) {
    const GlideSums& all = sums(log, t0);
    const double epsilon = log.method().epsilon;
    const bool decays = log.method().moves_all();
    glide.reach = static_cast<Real>(epsilon * all.centre);
    if (decays) glide.kept = static_cast<Real>(product(log, t0).pp);
    // Rows that no step has updated (t0 = 0) have no mean gradient. Only weight decay changes them.
    if (t0 == 0 || !(all.moment[0] > 0)) return;
    if (GlideFit fit; fit.fit(all, tolerance)) {
      const double later = decays ? product(log, std::min(t0 + log.rest(), until_)).pp : 1;
      for (int k = 0; k < 3; ++k) {
        glide.top[k] = static_cast<Real>(later * fit.top[k]);
        glide.bottom[k] = static_cast<Real>(fit.bottom[k]);
      }
      glide.low =
          fit.top[2] == 0 && fit.bottom[2] == 0 && glide.reach * glide.reach >= std::numeric_limits<Real>::min();
      return;
    }
    glide.first = static_cast<int64_t>(weights_.size());
    glide.terms = std::min(until_ - t0, log.rest());
    for (int32_t j = 1; j <= glide.terms; ++j) {
      const double later = decays ? product(log, t0 + j).pp : 1;
      weights_.push_back(static_cast<Real>(later * log.weight(t0, j)));
      places_.push_back(static_cast<Real>(epsilon * log.place(t0, j)));
    }
  }

  int32_t until_ = -1;
  int64_t version_ = 0;
  const RecentLog* recent_ = nullptr;
  std::vector<Entry> entries_;
  std::vector<Glide<Real>> list_;
  std::vector<Real> weights_, places_;
};

}  // namespace mr
