// Deferred updates: optimizer steps of rows without a gradient are applied only when the row gets a gradient or is
// read. This file declares the state that an optimizer keeps for them, and the object that applies them.
#pragma once

#include <memory>

#include "runtime/autograd/node.h"
#include "runtime/models/step_log.h"

namespace mr {

/// Running means of a parameter's gradients (`mean`) and of their squares (`square`), with the parameter's shape. An
/// undefined tensor means that all values are zero, or that the optimizer does not use them.
struct Moments {
  Tensor mean, square;
};

/// The state of a parameter's deferred updates as tensors, for files. The parameter's current numbers are saved
/// separately.
struct PutOff {
  // for each row of the parameter, as of its last applied step: values, then mean gradients and mean squares if the
  // optimizer has them; 0 for rows that no step has changed
  Tensor rows;
  Tensor stored;    // int64, for each row: number of the last step that is applied in `rows`; 0: initial values
  Tensor rates;     // float64: learning rates of the last steps, as many as stale rows may still need
  Tensor settings;  // float64: beta1, beta2, epsilon, kind (0: SGD, 1: Adam, 2: RMSProp), weight decay
};

/// Defers the optimizer's updates of a parameter. Owned by the parameter's storage and by the optimizer. The
/// parameter's own bytes may be stale, so a reader first calls `settle` or `settle_rows` (`Storage`). The rows, means
/// and step counts with which the optimizer computes are stored elsewhere, and only its steps change them.
class Deferred : public Deferral, public std::enable_shared_from_this<Deferred> {
 public:
  /// Starts to defer updates of a parameter, which has had `steps` steps. `parameter` must be its whole storage, on the
  /// CPU.
  static std::shared_ptr<Deferred> start(const Tensor& parameter, const Moments& moments, const GlideMethod& method,
                                         int64_t steps);

  /// Throws std::runtime_error if the deferred updates `off`, which come from a file, cannot belong to `parameter`
  /// after `now` steps.
  static void check(const Tensor& parameter, const PutOff& off, int64_t now);
  /// Restores the deferred updates `off`, which were saved after `now` steps and have passed `check`. The parameter
  /// must hold the numbers that it had after step `now`.
  static std::shared_ptr<Deferred> resume(const Tensor& parameter, const PutOff& off, int64_t now);
  virtual PutOff put_off() const = 0;

  /// Prepares a step with the sparse gradient `once`, in which no row is repeated. Allocates all memory that the step
  /// needs.
  virtual void prepare(const Gradient& once) = 0;
  /// Takes the step that `prepare` has prepared, with the learning rate `lr` and the optimizer settings that `start` or
  /// `resume` got.
  virtual void step(double lr) = 0;
  /// Returns a copy of the parameter's current numbers, in a new tensor or in the earlier snapshot `into`. Rows are
  /// copied late: before they change, and the rest when the snapshot is read.
  virtual Tensor snapshot(const Tensor& parameter, const Tensor& into) = 0;
  /// Returns true if this tensor is the parameter, in the same layout, and its updates are still deferred.
  virtual bool is_of(const Tensor& tensor) const = 0;
  /// Returns true if other code wrote to the parameter. Then all updates are applied, and no more are deferred.
  virtual bool gone() const = 0;
  virtual const Moments& moments() const = 0;
  virtual const GlideMethod& method() const = 0;
};

}  // namespace mr
