#include "runtime/autograd/anomaly.h"

#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

namespace mr {
namespace {

thread_local Anomaly wanted_now = Anomaly::none;

/// Returns the index of the first entry of x that is NaN, or infinite if infinities are looked for too. Returns -1 if
/// there is none.
int64_t first_anomaly(const Tensor& x) {
  if (!x.defined() || x.dtype() == Dtype::int64) return -1;
  return with_real(x.dtype(), [&]<class Real>() -> int64_t {
    const std::vector<Real> values = x.to_vector<Real>();
    for (size_t i = 0; i < values.size(); ++i) {
      if (std::isnan(values[i]) || (wanted_now == Anomaly::infinite && std::isinf(values[i])))
        return static_cast<int64_t>(i);
    }
    return -1;
  });
}

std::string name_of(const Tensor& x, int64_t entry) {
  return with_real(x.dtype(), [&]<class Real>() -> std::string {
    return std::isnan(x.to_vector<Real>()[static_cast<size_t>(entry)]) ? "NaN" : "infinity";
  });
}

std::string place(const Tensor& x, int64_t entry) {
  return name_of(x, entry) + " at entry " + std::to_string(entry + 1) + " of " + std::to_string(x.entries());
}

}  // namespace

Anomaly detect_anomalies(Anomaly wanted) { return std::exchange(wanted_now, wanted); }
Anomaly detected_anomalies() { return wanted_now; }

void look_for_anomaly(const char* operation, const Tensor& out, const std::vector<Tensor>& inputs) {
  const int64_t entry = first_anomaly(out);
  if (entry < 0) return;
  for (const Tensor& x : inputs) {
    const int64_t before = first_anomaly(x);
    if (before >= 0) throw std::runtime_error("'" + std::string(operation) + "' got an input with " + place(x, before));
  }
  throw std::runtime_error("'" + std::string(operation) + "' made " + place(out, entry));
}

void look_for_anomaly_in_derivative(const char* operation, const Tensor& derivative, size_t number) {
  const int64_t entry = first_anomaly(derivative);
  if (entry < 0) return;
  throw std::runtime_error("the derivative of '" + std::string(operation) + "' by its input " +
                           std::to_string(number + 1) + " is " + place(derivative, entry));
}

}  // namespace mr
