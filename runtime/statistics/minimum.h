// The least value of a function of one number.
#pragma once

#include <cstdint>
#include <limits>

#include <boost/math/tools/minima.hpp>

namespace mr::stats {

struct Minimum {
  double at;
  bool at_edge;  ///< nothing within the range was less than an end of it
};

/// Where f is least among `low`, `low` + (`high` - `low`) / `steps` and so on; then, between the neighbours of that, by
/// Brent's parabolas and golden sections, to some eight digits: nearer to a minimum f differs by its rounding only.
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
  std::uintmax_t calls = 100;  // more than it needs; where f is NaN it would not end
  return {boost::math::tools::brent_find_minima(f, left, right, bits, calls).first, best == 0 || best == steps};
}

}  // namespace mr::stats
