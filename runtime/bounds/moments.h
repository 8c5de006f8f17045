// Mean and standard deviation of a metric over random rankings, weighted or not.
#pragma once

#include "runtime/bounds/bound_stats.h"

namespace mr {

struct Moments {
  double mean = 0, sd = 0;
};

/// In closed form where all rankings are equally likely, else rank by rank, O(N) times the counts that there can be, or
/// from all values: of a shape that has a spectrum or atoms.
Moments moments_of(const Metric& metric, const ListShape& shape);

/// Throws where weights make nearly all rankings the same: `sd` is below a thousandth of the metric's range.
void check_spread(const Metric& metric, const ListShape& shape, double sd);

}  // namespace mr
