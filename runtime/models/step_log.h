// The log of an optimizer's steps of one parameter, as far back as rows with deferred updates may need them, and the
// sums over the steps after each step (kernels/models/glide.h).
#pragma once

#include <array>
#include <vector>

#include "kernels/models/glide.h"

namespace mr {

/// The update rule of a row without a gradient: Adam, or SGD with momentum beta1.
struct GlideMethod {
  double beta1, beta2, epsilon;
  bool adam;
  bool operator==(const GlideMethod&) const = default;
};

class StepLog {
 public:
  /// Deferred updates of a row must be applied before this number of steps has passed.
  static constexpr int32_t kept = 16384;

  /// True if updates can be deferred: the updates of a row die out soon enough, and Adam's squares decay so much slower
  /// than its means that the moments of `GlideSums`, which are sums of weight_j d_j^n about (beta1 / beta2^((n + 1) /
  /// 2))^j, decrease for all n up to 5.
  static bool possible(const GlideMethod& method);
  StepLog(const GlideMethod& method, int32_t now);

  int32_t now() const { return now_; }
  /// The number of steps after which a row without a gradient no longer changes.
  int32_t rest() const { return rest_; }
  const GlideMethod& method() const { return method_; }
  void append(double lr);
  /// The learning rates of the last steps, as many as rows may need. A log that starts before them and appends them
  /// equals this one.
  std::vector<double> rates() const;

  /// The sums over the steps from t0 + 1 until now, for rows that were stored in step t0.
  const GlideSums& sums(int32_t t0) const { return at(t0).sums; }
  /// The weight in the j-th step after t0, j <= rest().
  double weight(int32_t t0, int32_t j) const { return at(t0 + j).factor * ratio_powers_[static_cast<size_t>(j)]; }
  double place(int32_t t0, int32_t j) const { return at(t0 + j).root * place_powers_[static_cast<size_t>(j)]; }
  /// Decay over k steps: beta1^k of the means, beta2^k of the squares.
  double mean_left(int32_t k) const { return mean_powers_.of(k); }
  double square_left(int32_t k) const { return square_powers_.of(k); }

 private:
  struct Step {
    GlideSums sums;
    // factor: common factor of the step's weights; root: common factor of its places (`weight` and `place` above)
    double factor, root;
    double lr;
  };
  struct Powers {
    static constexpr int32_t low = 256;
    std::array<double, low> units{};
    std::array<double, kept / low + 1> lows{};
    explicit Powers(double base);
    double of(int32_t k) const { return units[static_cast<size_t>(k % low)] * lows[static_cast<size_t>(k / low)]; }
  };

  static double ratio_of(const GlideMethod& method);
  static int32_t rest_of(const GlideMethod& method);
  const Step& at(int32_t step) const { return steps_[static_cast<size_t>(step % kept)]; }
  Step& at(int32_t step) { return steps_[static_cast<size_t>(step % kept)]; }
  void begin_sums();

  GlideMethod method_;
  int32_t now_, first_, rest_;
  std::vector<double> ratio_powers_, place_powers_;
  Powers mean_powers_, square_powers_;
  std::vector<Step> steps_;
};

}  // namespace mr
