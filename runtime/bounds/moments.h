// Mean and standard deviation of a metric over random rankings. Rankings are equally likely, or are drawn row by row
// with a sampling weight for relevant rows.
#pragma once

#include "runtime/bounds/bound_stats.h"

namespace mr {

struct Moments {
  double mean = 0, sd = 0;
};

/// Returns mean and standard deviation of a metric over random rankings of a list shape. If all rankings are equally
/// likely, they have closed forms. Otherwise they are computed rank by rank, which needs has_spectrum (spectrum.h), or
/// from the list of all values, which needs has_atoms (enumeration.h).
Moments moments_of(const Metric& metric, const ListShape& shape);

/// Throws if sampling weights (beta) are so extreme that nearly all rankings have the same value: the standard
/// deviation `sd` is below a thousandth of the metric's range.
void check_spread(const Metric& metric, const ListShape& shape, double sd);

}  // namespace mr
