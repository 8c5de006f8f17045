// Steps of rows without a gradient, put off: what an optimiser has stored of a parameter, and what others see of it.
#pragma once

#include <memory>

#include "runtime/autograd/node.h"
#include "runtime/models/step_log.h"

namespace mr {

/// Means of a parameter's gradients and of their squares, of its shape; undefined: all zero, or unused.
struct Moments {
  Tensor mean, square;
};

/// All that is put off, besides the parameter's numbers as they are now.
struct PutOff {
  Tensor rows;      // a row each as it was stored: numbers, means and, of Adam, squares; zero where no step moved it
  Tensor stored;    // int64: the step that each was stored in, 0: as it began
  Tensor rates;     // float64: of the last steps
  Tensor settings;  // float64: beta1, beta2, epsilon, 1 for Adam
};

/// Owned by the parameter's storage and by the optimiser. The bytes of the parameter are a picture: whoever reads some
/// has them settled there (`Storage`), the optimiser's own rows, means and counts of steps lie elsewhere and change in
/// its steps alone.
class Deferred : public Deferral, public std::enable_shared_from_this<Deferred> {
 public:
  /// Puts the parameter off from here on; `steps` were taken before. `parameter` is all of its storage, on the CPU.
  static std::shared_ptr<Deferred> start(const Tensor& parameter, const Moments& moments, const GlideMethod& method,
                                         int64_t steps);

  /// Throws std::runtime_error where `off` was not kept of such a parameter after `now` steps: it comes from a file.
  static void check(const Tensor& parameter, const PutOff& off, int64_t now);
  /// Restores the deferred updates `off` as they were after `now` steps. `off` has passed `check`,
  /// and the parameter holds its numbers of that step.
  static std::shared_ptr<Deferred> resume(const Tensor& parameter, const PutOff& off, int64_t now);
  virtual PutOff put_off() const = 0;

  /// All that the next step needs memory for. `once`: each row once.
  virtual void prepare(const Gradient& once) = 0;
  /// Takes the step; beyond `lr` it has what `start` was given.
  virtual void step(double lr) = 0;
  /// The numbers of the parameter as they are now, in a tensor of its own or in an earlier snapshot, `into`: rows are
  /// copied there as they change, and the rest when somebody reads it.
  virtual Tensor snapshot(const Tensor& parameter, const Tensor& into) = 0;
  /// True if this tensor is the parameter, row by row, and still put off.
  virtual bool is_of(const Tensor& tensor) const = 0;
  /// True if somebody else wrote to the parameter: all steps are taken, and no more are put off.
  virtual bool gone() const = 0;
  /// The means as they are then.
  virtual const Moments& moments() const = 0;
  virtual const GlideMethod& method() const = 0;
};

}  // namespace mr
