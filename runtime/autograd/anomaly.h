// The operation that first makes a number that is none: while detection is on, every recorded operation looks at what
// it made, and backward at every derivative.
#pragma once

#include "runtime/tensor/tensor.h"

namespace mr {

enum class Anomaly { none, nan, infinite };

/// From here on operations of this thread raise what is NaN, or also what is infinite; returns what was on before.
Anomaly detect_anomalies(Anomaly wanted);
Anomaly detected_anomalies();

/// Throws std::runtime_error where an operation's result has what is looked for: "'log' made NaN at entry 3 of 9", or
/// "'log' got NaN" where one of its inputs had it.
void look_for_anomaly(const char* operation, const Tensor& out, const std::vector<Tensor>& inputs);
/// Like `look_for_anomaly`, for the derivative of an operation by its input `number`, counted from
/// 0.
void look_for_anomaly_in_derivative(const char* operation, const Tensor& derivative, size_t number);

}  // namespace mr
