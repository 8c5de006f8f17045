// Finds the minimum of a function of one variable.
#pragma once

#include <cstdint>
#include <limits>

#include <boost/math/tools/minima.hpp>

namespace mr::stats {

struct Minimum {
  double at;
  bool at_edge;  ///< true if the smallest value on the grid is at an end of the range
};

/// Finds the minimum of f between `low` and `high`. The smallest value on a grid of `steps` intervals is refined
/// between its neighbours by Brent's method, to about eight digits of the argument. Closer to a minimum, values of f
/// differ only by rounding.
template <class F>
Minimum least(double low, double high, int steps, const F& f) {
  const auto point = [&](int i) { return low + (high - low) * i / steps; };
  int best = 0;
  double least_value = f(low);
  for (int i = 1; i <= steps; ++i) {
    const double value = f(point(i));
    if (value < least_value) {
      least_value = value;
      best = i;
    }
  }
  const double left = point(best > 0 ? best - 1 : 0), right = point(best < steps ? best + 1 : steps);
  constexpr int bits = std::numeric_limits<double>::digits / 2;
  std::uintmax_t calls = 100;  // limit of calls of f: if f is NaN, the search would not end
  return {boost::math::tools::brent_find_minima(f, left, right, bits, calls).first, best == 0 || best == steps};
}

}  // namespace mr::stats
