// Statistics of a metric over all rankings, per list: what bounds are made of.
#pragma once

#include <optional>

#include "runtime/ops/lists.h"
#include "runtime/ranking/closed_forms.h"

namespace mr {

/// The closed forms of a metric; throws where there are none.
const ClosedForms& closed_forms_of(const Metric& metric);
/// True if the metric has one value over all rankings, also because its cut-off includes the whole list.
bool degenerate(const Metric& metric, const ListShape& shape);
/// The shape of a list of n rows with these grades.
ListShape shape_of(const Metric& metric, const float* grades, int64_t n, double beta = 0);
/// The shape that a script names: n and p, or grades (in any order) which say both.
ListShape shape_of(const Metric& metric, std::optional<int64_t> n, std::optional<int64_t> p,
                   const std::vector<double>& grades, double beta = 0);
/// Throws where gains of the metric's grades are too large to be added up (check_gains).
void check_grades(const Metric& metric, const Lists& lists);
/// Shapes of all lists for a metric. A list whose grades are all equal has p = n. They live
/// as long as the lists.
const std::vector<ListShape>& list_shapes(const Lists& lists, const Metric& metric, double beta = 0);

/// Over all rankings, equally likely, whatever beta is. Where every row is relevant, the one value there is; where none
/// is, NaN (the nRBP loss: 0). Kept per process; the variance of AP, O(N P), only where asked.
BoundStats bound_stats(const Metric& metric, const ListShape& shape, bool variance);

/// One value per list as scripts want it: "float64" or "float32", on a device.
Tensor per_list_tensor(const std::vector<double>& values, const std::string& dtype, Device device);

}  // namespace mr
