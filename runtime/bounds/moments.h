// Mean and standard deviation of a metric over random rankings. Rankings are equally likely, or are drawn row by row
// with a sampling weight for relevant rows.
#pragma once

#include "runtime/bounds/bound_stats.h"

namespace mr {

struct Moments {
  double mean = 0, sd = 0;
};

/// Returns the moments, computed in closed form if all rankings are equally likely; else rank by rank, in O(N) times
/// the number of possible counts, or from the list of values. The list shape must have a spectrum (spectrum.h) or atoms
/// (enumeration.h).
Moments moments_of(const Metric& metric, const ListShape& shape);

/// Throws if sampling weights make nearly all rankings equal: `sd` is below a thousandth of the metric's range.
void check_spread(const Metric& metric, const ListShape& shape, double sd);

}  // namespace mr
