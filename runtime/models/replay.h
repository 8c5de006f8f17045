// Replayed updates: optimizer steps of embedding rows without a gradient are delayed until the row gets a gradient or
// is read. Then the row takes all steps that it has missed, one by one (kernels/models/deferred/replay.h). Results have
// the same bits as without delay. It is used where deferred updates have no closed form (deferred.h). It saves no
// arithmetic, but not every row is read and written in every step.
#pragma once

#include <memory>
#include <vector>

#include "kernels/models/deferred/replay.h"
#include "runtime/tensor/tensor.h"

namespace mr {

/// Delays the optimizer's updates of a parameter and replays them. Owned by the parameter's storage and by the
/// optimizer. Updates the parameter, its means and its squares in place. Replaying a row early, because it is read,
/// does not change later results.
class Replay : public Deferral, public std::enable_shared_from_this<Replay> {
 public:
  /// Starts to delay the updates of a parameter, which must be its whole storage, on the CPU. `mean` and `square` have
  /// its shape; `mean` is undefined if the optimizer has none. `moved`: for each row, 0 if steps without a gradient do
  /// not change it; if `moved` is empty, they change all rows.
  static std::shared_ptr<Replay> start(const Tensor& parameter, const Tensor& mean, const Tensor& square,
                                       const StepRule& rule, const std::vector<uint8_t>& moved);
  /// Returns true if replaying missed steps gives the same bits as taking each step at once. That holds if no step
  /// divides by zero: if epsilon is above 0.
  static bool possible(const StepRule& rule, Dtype dtype);

  /// Replays the updates that the given rows, counted from 1, have missed, because the next step has a gradient for
  /// them. Reserves the memory for that step.
  virtual void prepare(const Tensor& rows) = 0;
  /// Logs a step that is about to update the rows given to `prepare`. The arguments become the members of a MissedStep.
  virtual void begin_step(double rate, double correction, double factor) = 0;
  /// Returns the address of the parameter's numbers, for the step to change.
  virtual void* numbers() const = 0;
  /// Returns true if other code wrote to the parameter. At that time all updates were applied, and no more are delayed.
  virtual bool gone() const = 0;
  virtual const StepRule& rule() const = 0;
};

}  // namespace mr
