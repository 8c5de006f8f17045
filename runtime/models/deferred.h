// Deferred updates: the state that an optimizer keeps for a parameter, and the values that readers of the parameter
// see.
#pragma once

#include <memory>

#include "runtime/autograd/node.h"
#include "runtime/models/step_log.h"

namespace mr {

/// The means of a parameter's gradients and of their squares, with the parameter's shape. Undefined: all zero, or
/// unused.
struct Moments {
  Tensor mean, square;
};

/// The state of deferred updates, besides the current numbers of the parameter.
struct PutOff {
  // stored rows: parameter values, then means and mean squares, if the optimizer has them; 0 for rows that no step has
  // changed
  Tensor rows;
  Tensor stored;    // int64, for each row: number of the step after which it was stored; 0: initial values
  Tensor rates;     // float64: learning rates of the last steps, as many as rows may still need
  Tensor settings;  // float64: beta1, beta2, epsilon, kind (0: SGD, 1: Adam, 2: RMSProp), weight decay
};

/// Owned by the parameter's storage and by the optimizer. The parameter's bytes may be stale: a reader first has the
/// rows that it reads updated (`Storage`). The optimizer's own rows, means and step counts are stored elsewhere and
/// change only in its steps.
class Deferred : public Deferral, public std::enable_shared_from_this<Deferred> {
 public:
  /// Starts to defer updates of a parameter after `steps` steps. `parameter` must be its whole storage, on the CPU.
  static std::shared_ptr<Deferred> start(const Tensor& parameter, const Moments& moments, const GlideMethod& method,
                                         int64_t steps);

  /// Throws std::runtime_error if `off`, which comes from a file, cannot belong to such a parameter after `now` steps.
  static void check(const Tensor& parameter, const PutOff& off, int64_t now);
  /// Restores the deferred updates `off` as they were after `now` steps. `off` has passed `check`,
  /// and the parameter holds its numbers of that step.
  static std::shared_ptr<Deferred> resume(const Tensor& parameter, const PutOff& off, int64_t now);
  virtual PutOff put_off() const = 0;

  /// Allocates all memory that the next step needs. `once` is a gradient without repeated rows.
  virtual void prepare(const Gradient& once) = 0;
  /// Takes a step with the learning rate `lr` and the settings of `start`.
  virtual void step(double lr) = 0;
  /// Returns a copy of the parameter's current numbers, in a new tensor or in the earlier snapshot `into`. Rows are
  /// copied when they change, and the rest when the snapshot is read.
  virtual Tensor snapshot(const Tensor& parameter, const Tensor& into) = 0;
  /// Returns true if this tensor is the parameter, in the same layout, and its updates are still deferred.
  virtual bool is_of(const Tensor& tensor) const = 0;
  /// Returns true if other code wrote to the parameter. Then all updates are applied, and no more are deferred.
  virtual bool gone() const = 0;
  virtual const Moments& moments() const = 0;
  virtual const GlideMethod& method() const = 0;
};

}  // namespace mr
