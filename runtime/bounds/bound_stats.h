// Statistics (minimum, maximum, mean, variance) of a metric over all rankings of a list, from which bounds are
// computed.
#pragma once

#include <optional>

#include "runtime/ops/lists.h"
#include "runtime/ranking/closed_forms.h"

namespace mr {

/// Returns the closed forms of a metric. Throws if it has none.
const ClosedForms& closed_forms_of(const Metric& metric);
/// Returns true if the metric has the same value for all rankings of a list shape, for example if its cutoff includes
/// the whole list.
bool degenerate(const Metric& metric, const ListShape& shape);
ListShape shape_of(const Metric& metric, const float* grades, int64_t n, double beta = 0);
/// Returns the list shape that a script passes: n rows, p of them relevant, or grades in any order.
ListShape shape_of(const Metric& metric, std::optional<int64_t> n, std::optional<int64_t> p,
                   const std::vector<double>& grades, double beta = 0);
/// Throws if sums of gains of the lists' grades would overflow.
void check_grades(const Metric& metric, const Lists& lists);
/// Returns the shapes of all lists for a metric, cached with the lists. A list whose grades are all equal has p = n.
const std::vector<ListShape>& list_shapes(const Lists& lists, const Metric& metric, double beta = 0);

/// Returns the statistics over all rankings, equally likely, for any beta. If every row is relevant, they are the
/// single value; if no row is, NaN (nRBP loss: 0). Cached per process. The variance of AP takes O(N P) and is computed
/// only on request.
BoundStats bound_stats(const Metric& metric, const ListShape& shape, bool variance);

/// Returns one value per list as a tensor: "float64" or "float32", on a device.
Tensor per_list_tensor(const std::vector<double>& values, const std::string& dtype, Device device);

}  // namespace mr
