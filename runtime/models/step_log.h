// The log of an optimizer's steps of one parameter. It reaches as far back as rows with deferred updates need it. For
// each logged step it has sums over all later steps, from which closed forms of deferred updates are made
// (kernels/models/deferred/glide.h).
#pragma once

#include <array>
#include <vector>

#include "kernels/models/deferred/glide.h"
#include "runtime/models/step_products.h"
#include "runtime/tensor/dtype.h"

namespace mr {

/// The settings of an optimizer for rows without a gradient. SGD and RMSProp: `beta1` is the momentum. RMSProp: `beta2`
/// is the decay of the mean squares. `decay`: weight decay of SGD or of AdamW.
struct GlideMethod {
  StepKind kind = StepKind::sgd;
  double beta1 = 0, beta2 = 1, epsilon = 0, decay = 0;
  bool adam() const { return kind == StepKind::adam; }
  bool has_mean() const { return adam() || beta1 > 0; }
  bool has_square() const { return kind != StepKind::sgd; }
  int64_t tables() const { return 1 + (has_mean() ? 1 : 0) + (has_square() ? 1 : 0); }
  /// Returns true if steps also change rows that never had a gradient: with weight decay.
  bool moves_all() const { return decay > 0; }
  bool operator==(const GlideMethod&) const = default;
};

class StepLog {
 public:
  /// length of the log in steps: the deferred updates of a row must be applied before the row has missed more steps
  /// than this
  static constexpr int32_t kept = StepProducts::kept;

  /// Returns true if the updates of this optimizer can be deferred. Adam: a row's updates must become negligible after
  /// a limited number of steps without a gradient, and beta1 < beta2^3, so that the series of the closed form
  /// converges. Adam and RMSProp: epsilon must not be too small for `dtype`. RMSProp: no weight decay.
  static bool possible(const GlideMethod& method, Dtype dtype);
  StepLog(const GlideMethod& method, int32_t now);

  int32_t now() const { return now_; }
  /// Returns the number of steps without a gradient after which only weight decay still changes a row.
  int32_t rest() const { return rest_; }
  /// Returns true if steps after step `from` do not change a row that was last updated in step t0, where from >= t0.
  bool rests(int32_t t0, int32_t from) const { return !method_.moves_all() && (t0 == 0 || from - t0 >= rest_); }
  const GlideMethod& method() const { return method_; }
  /// Returns true if `products` describes a row's missed steps completely, except for mean squares. Otherwise
  /// `products` describes only weight decay, and `sums` the rest.
  bool linear() const { return linear_; }
  void append(double lr);
  /// Returns the learning rates of the last steps, as many as stale rows may need. An empty log, started that many
  /// steps earlier, equals this log after it has appended these rates.
  std::vector<double> rates() const;

  /// Returns the sums over the steps from t0 + 1 until now, but at most rest() steps, for rows that were last updated
  /// in step t0. Weight decay after step t0 + rest() is not included.
  const GlideSums& sums(int32_t t0) const { return at(t0).sums; }
  const StepProducts& products() const { return products_; }
  /// Return weight_j and place_j of the j-th step without a gradient after a row's last update in step t0, where j <=
  /// rest(). With Adam the step subtracts mean * weight_j / (sqrt(square) + epsilon * place_j) from the row, otherwise
  /// mean * weight_j.
  double weight(int32_t t0, int32_t j) const { return at(t0 + j).factor * ratio_powers_[static_cast<size_t>(j)]; }
  double place(int32_t t0, int32_t j) const { return at(t0 + j).root * place_powers_[static_cast<size_t>(j)]; }
  /// `mean_left` returns beta1^k and `square_left` returns beta2^k: what remains of a row's mean gradient and mean
  /// square after k steps without a gradient.
  double mean_left(int32_t k) const { return mean_powers_.of(k); }
  double square_left(int32_t k) const { return square_powers_.of(k); }

 private:
  struct Step {
    GlideSums sums;
    // factors that depend on this step only: `weight` and `place` multiply them by a power of the number of missed
    // steps
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
  // largest possible `rest_`, because each step adds a term to the sums of `rest_` earlier steps
  static constexpr int32_t most_rest = kept / 4;
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
