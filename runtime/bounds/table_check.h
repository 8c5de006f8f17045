// Compares a table with the closed forms of the shape that it is said to be of.
#pragma once

#include "runtime/bounds/logit_table.h"
#include "runtime/bounds/moments.h"

namespace mr {

/// How far a table is from the smoothed distribution function of a shape.
struct TableError {
  bool possible = false;          // rises, no steeper than `gain`, and within the range of the metric
  double mean = 0, variance = 0;  // of the mean, in deviations; of the variance, relative
};

TableError table_error(const LogitTable& table, double gain, const BoundStats& range, const Moments& moments);

/// True if the errors are as small as those of tables made here. The error of an integral grows with the step.
bool agrees(const LogitTable& table, double gain, const BoundStats& range, const Moments& moments);

}  // namespace mr
