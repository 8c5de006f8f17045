// The exact smoothed distribution function of a metric over random rankings, F~(s) = E sigma(a (s - X)), as a Fourier
// series: the characteristic function of X times that of the logistic kernel (Gil-Pelaez inversion, on a period longer
// than the range with the kernel's tails).
#pragma once

#include <vector>

#include "kernels/bounds/characteristic_cpu.h"
#include "runtime/bounds/increments.h"
#include "runtime/tensor/device.h"

namespace mr {

struct Smoothed {
  double value, derivative;
};

/// Returns true if the characteristic function of a metric over random rankings is feasible for a list shape. It is not
/// for lists with many different gains. For the reciprocal rank it is not used, because that has few values.
bool has_spectrum(const Metric& metric, const ListShape& shape);

class Spectrum {
 public:
  /// Computes the Fourier series of the smoothed distribution function F~ with this steepness. Throws if it needs too
  /// many frequencies. The recursion over ranks runs on `device`.
  Spectrum(const Metric& metric, const ListShape& shape, double steepness, Device device = Device::cpu);

  /// Computes the spectra (Fourier series of smoothed distribution functions) of many list shapes, each with its own
  /// steepness. On the GPU all recursions share the same launches.
  static std::vector<Spectrum> of(const Metric& metric, const std::vector<ListShape>& shapes,
                                  const std::vector<double>& steepnesses, Device device);

  /// Returns the smoothed distribution function F~ and its derivative at s, with an error of about 1e-12.
  Smoothed at(double s) const;
  /// Like the other `at`, but for cpu::frequency_lanes points s at once.
  void at(const double* s, Smoothed* out) const;
  /// Returns a quantile: the s at which the smoothed distribution function is `level`, to a millionth of the metric's
  /// range.
  double quantile(double level) const;

  double steepness() const { return steepness_; }
  int64_t terms() const { return static_cast<int64_t>(coefficients_.size()) / 4; }

 private:
  /// The input of the terms of one Fourier series: the list shape and the metric's characteristic function.
  struct Source;
  Spectrum(const Metric& metric, const ListShape& shape, double steepness, Device device, Source& source);
  /// Adds terms of the Fourier series for the next `blocks` blocks of frequencies: the characteristic function times
  /// the Fourier transform of the smoothing kernel. Returns true when the last terms are negligible.
  bool add_terms(Source& source, int64_t blocks);
  void finish() { constant_ = -at(low_ - reach()).value; }

  void set_period();
  /// Returns how far the smoothing kernel extends beyond the metric's lowest and highest value.
  double reach() const { return 36 / steepness_; }

  double steepness_, low_, high_, mean_;
  double period_ = 0, step_ = 0;  // period of the Fourier series, and distance between its frequencies
  double constant_ = 0;
  // For every term of the Fourier series, four numbers: real and imaginary parts of phi psi and of phi psi / t. phi is
  // the characteristic function of the metric at frequency t, psi that of the smoothing kernel.
  std::vector<double> coefficients_;
};

}  // namespace mr
