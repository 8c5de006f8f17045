// The log of an optimizer's steps of one parameter, as far back as rows with deferred updates may need them, and the
// sums over the steps after each step (kernels/models/glide.h).
#pragma once

#include <array>
#include <vector>

#include "kernels/models/glide.h"
#include "runtime/models/step_products.h"
#include "runtime/tensor/dtype.h"

namespace mr {

/// The update rule of a row without a gradient. SGD and RMSProp: `beta1` is the momentum. RMSProp: `beta2` is the decay
/// of the squares. `decay`: weight decay of SGD or of AdamW.
struct GlideMethod {
  StepKind kind = StepKind::sgd;
  double beta1 = 0, beta2 = 1, epsilon = 0, decay = 0;
  bool adam() const { return kind == StepKind::adam; }
  bool has_mean() const { return adam() || beta1 > 0; }
  bool has_square() const { return kind != StepKind::sgd; }
  int64_t tables() const { return 1 + (has_mean() ? 1 : 0) + (has_square() ? 1 : 0); }
  /// True if rows that never had a gradient move, too.
  bool moves_all() const { return decay > 0; }
  bool operator==(const GlideMethod&) const = default;
};

class StepLog {
 public:
  /// Deferred updates of a row must be applied before this number of steps has passed.
  static constexpr int32_t kept = StepProducts::kept;

  /// Returns true if updates can be deferred. Adam: the updates of a row die out soon enough, and the squares decay so
  /// much slower than the means that the moments of `GlideSums`, which are sums of weight_j d_j^n about (beta1 /
  /// beta2^((n + 1) / 2))^j, decrease for all n up to 5. RMSProp and Adam: epsilon is not too small for numbers of this
  /// type.
  static bool possible(const GlideMethod& method, Dtype dtype);
  StepLog(const GlideMethod& method, int32_t now);

  int32_t now() const { return now_; }
  /// Returns the number of steps after which a row without a gradient changes by weight decay only.
  int32_t rest() const { return rest_; }
  /// Returns true if a row that was stored in step t0 does not change after step `from`.
  bool rests(int32_t t0, int32_t from) const { return !method_.moves_all() && (t0 == 0 || from - t0 >= rest_); }
  const GlideMethod& method() const { return method_; }
  /// Returns true if `products` contains the missed steps (except of mean squares). If not, it contains weight decay
  /// only.
  bool linear() const { return linear_; }
  void append(double lr);
  /// Returns the learning rates of the last steps, as many as rows may need. A log that starts before these steps and
  /// appends the rates equals this one.
  std::vector<double> rates() const;

  /// Returns the sums over the steps from t0 + 1 until now, at most rest(), for rows that were stored in step t0.
  /// Weight decay after step t0 + rest() is not in them.
  const GlideSums& sums(int32_t t0) const { return at(t0).sums; }
  const StepProducts& products() const { return products_; }
  /// Returns the weight in the j-th step after t0, j <= rest().
  double weight(int32_t t0, int32_t j) const { return at(t0 + j).factor * ratio_powers_[static_cast<size_t>(j)]; }
  double place(int32_t t0, int32_t j) const { return at(t0 + j).root * place_powers_[static_cast<size_t>(j)]; }
  /// Return the decay over k steps: beta1^k of the means, beta2^k of the squares.
  double mean_left(int32_t k) const { return mean_powers_.of(k); }
  double square_left(int32_t k) const { return square_powers_.of(k); }

 private:
  struct Step {
    GlideSums sums;
    // factor: common factor of the step's weights; root: common factor of its places (what `weight` and `place` return)
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

  LinearStep linear_step(double lr) const;
  static double ratio_of(const GlideMethod& method);
  static int32_t rest_of(const GlideMethod& method);
  static bool is_linear(const GlideMethod& method);
  static constexpr int32_t most_rest = kept / 4;  // a step adds to the sums of so many earlier steps
  const Step& at(int32_t step) const { return steps_[static_cast<size_t>(step % kept)]; }
  Step& at(int32_t step) { return steps_[static_cast<size_t>(step % kept)]; }
  void begin_sums();

  GlideMethod method_;
  int32_t now_, first_, rest_;
  bool linear_;
  StepProducts products_;
  std::vector<double> ratio_powers_, place_powers_;
  Powers mean_powers_, square_powers_;
  std::vector<Step> steps_;
};

}  // namespace mr
