// Compares a table with the closed forms of the shape that it claims to describe.
#pragma once

#include "runtime/bounds/logit_table.h"
#include "runtime/bounds/moments.h"

namespace mr {

/// The differences between a table and the smoothed distribution function of a shape.
struct TableError {
  bool possible = false;          // rises, is at most as steep as `gain`, is within the metric's range
  double mean = 0, variance = 0;  // error of the mean in standard deviations; relative error of the variance
};

TableError table_error(const LogitTable& table, double gain, const BoundStats& range, const Moments& moments);

/// True if the errors are as small as those of this program's own tables. Errors of integrals grow with the step.
bool agrees(const LogitTable& table, double gain, const BoundStats& range, const Moments& moments);

}  // namespace mr
