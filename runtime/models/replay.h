// Replayed updates: optimizer steps of embedding rows without a gradient, which wait until the row gets a gradient or
// is read. Then the row takes all steps that it has missed (kernels/models/replay.h). This gives the bits of steps that
// visit all rows, where deferred.h has no closed form. The arithmetic of the missed steps remains. It saves reading and
// writing every row in every step.
#pragma once

#include <memory>
#include <vector>

#include "kernels/models/replay.h"
#include "runtime/tensor/tensor.h"

namespace mr {

/// Owned by the parameter's storage and by the optimizer. The parameter, its means and its squares are updated in
/// place. An early replay, for a reader, does not change later numbers.
class Replay : public Deferral, public std::enable_shared_from_this<Replay> {
 public:
  /// Starts to replay the updates of a parameter, which must be its whole storage, on the CPU. `mean` and `square` have
  /// its shape; `mean` is undefined if the rule has none. `moved`: for each row, 0 if no step without a gradient moves
  /// it; empty: all rows are moved.
  static std::shared_ptr<Replay> start(const Tensor& parameter, const Tensor& mean, const Tensor& square,
                                       const StepRule& rule, const std::vector<uint8_t>& moved);
  /// Returns true if replayed steps of a row without a gradient give the same bits as immediate ones: if no step
  /// divides by zero.
  static bool possible(const StepRule& rule, Dtype dtype);

  /// Replays the updates of the given rows, counted from 1, which have a gradient in the next step, and reserves the
  /// memory for that step.
  virtual void prepare(const Tensor& rows) = 0;
  /// Counts a step that is about to update the rows of `prepare`. The arguments are the members of MissedStep.
  virtual void begin_step(double rate, double correction, double factor) = 0;
  /// Returns the parameter's bytes, which the step changes.
  virtual void* numbers() const = 0;
  /// Returns true if other code wrote to the parameter. Then all updates are applied, and no more are delayed.
  virtual bool gone() const = 0;
  virtual const StepRule& rule() const = 0;
};

}  // namespace mr
