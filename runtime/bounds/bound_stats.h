// Statistics (minimum, maximum, mean, variance) of a metric over all rankings of a list, from which bounds are
// computed.
#pragma once

#include <optional>

#include "runtime/ops/lists.h"
#include "runtime/ranking/closed_forms.h"

namespace mr {

/// Returns the closed forms of a metric: formulas for its statistics over all rankings. Throws if it has none.
const ClosedForms& closed_forms_of(const Metric& metric);
/// Returns true if the metric has the same value for all rankings of a list of this shape (numbers of rows and of
/// relevant rows, or grades). One example is precision at a cutoff that includes the whole list.
bool degenerate(const Metric& metric, const ListShape& shape);
ListShape shape_of(const Metric& metric, const float* grades, int64_t n, double beta = 0);
/// Returns a list shape from the arguments of a script: n rows of which p are relevant, or the grades of all rows in
/// any order.
ListShape shape_of(const Metric& metric, std::optional<int64_t> n, std::optional<int64_t> p,
                   const std::vector<double>& grades, double beta = 0);
/// Throws if the gains of the lists' grades are so large that their sums would overflow.
void check_grades(const Metric& metric, const Lists& lists);
/// Returns the shapes of all lists (their numbers of rows n and of relevant rows p, or their grades) for a metric,
/// cached with the lists. For a metric that compares grades, a list whose grades are all equal has p = n.
const std::vector<ListShape>& list_shapes(const Lists& lists, const Metric& metric, double beta = 0);

/// Returns the statistics of a metric over all rankings, which count as equally likely even if the shape has sampling
/// weights (beta). If every row is relevant, all statistics are the single value; if no row is, they are NaN (nRBP
/// loss: 0). Cached per process. The variance is computed only on request, because AP's takes O(N P).
BoundStats bound_stats(const Metric& metric, const ListShape& shape, bool variance);

/// Returns a tensor of type "float64" or "float32" on a device, with one value per list.
Tensor per_list_tensor(const std::vector<double>& values, const std::string& dtype, Device device);

}  // namespace mr
