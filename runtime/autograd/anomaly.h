// Finds the operation that first produced a NaN or an infinity: while detection is on, every recorded operation checks
// its result, and the backward pass checks every derivative.
#pragma once

#include "runtime/tensor/tensor.h"

namespace mr {

enum class Anomaly { none, nan, infinite };

/// Makes the operations of this thread throw an error if a result has a NaN (Anomaly::nan), or a NaN or an infinity
/// (Anomaly::infinite). Returns the previous setting.
Anomaly detect_anomalies(Anomaly wanted);
Anomaly detected_anomalies();

/// Throws std::runtime_error if an operation's result has a NaN, or an infinity if infinities are looked for. The error
/// is "'log' made NaN at entry 3 of 9", or "'log' got an input with NaN ..." if one of its inputs already has
/// one.
void look_for_anomaly(const char* operation, const Tensor& out, const std::vector<Tensor>& inputs);
/// Like `look_for_anomaly`, but checks the derivative of an operation by one of its inputs. `number` is the input's
/// position, counted from 0.
void look_for_anomaly_in_derivative(const char* operation, const Tensor& derivative, size_t number);

}  // namespace mr
