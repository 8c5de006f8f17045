// Statistics of a metric over all rankings, per list: what bounds are made of.
#pragma once

#include <optional>
#include <string>

#include "kernels/bounds/bounds.h"
#include "runtime/ops/lists.h"

namespace mr {

/// A metric of which the statistics are known, e.g. from "ndcg@10" or "nrbp(0.95)".
struct BoundedMetric {
  enum Family { ndcg, ap, rr, nrbp_loss, rbp, nrbp, precision, recall } family;
  int64_t k;  // ranks that count
  double p;   // persistence of rbp and nrbp
  std::string name;

  /// Whether grades count, beyond being relevant or not.
  bool graded() const { return family == ndcg; }
};
BoundedMetric to_bounded_metric(const std::string& name);
/// Whether a name is that of one, be its k or p right or not.
bool is_bounded_metric(const std::string& name);

/// N rows of which P are relevant, or the grades where they matter: what decides a list's statistics. And what decides
/// its random rankings: rows are drawn without replacement with weights e^(beta grade) (Plackett 1975, Luce 1959),
/// where relevant rows have grade 1 unless there are grades.
struct ListShape {
  int64_t n = 0, p = 0;
  std::vector<float> grades;  // descending; empty where n and p say all
  double beta = 0;            // 0: all rankings are equally likely
  /// All rows are relevant, or none is.
  bool of_one_kind() const { return p == 0 || p == n; }
  bool operator<(const ListShape& o) const {
    return std::tie(n, p, grades, beta) < std::tie(o.n, o.p, o.grades, o.beta);
  }
};
/// Whether the metric has one value over all rankings: also where its cut-off takes in the whole list.
bool degenerate(const BoundedMetric& metric, const ListShape& shape);
/// The shape of a list of n rows with these grades.
ListShape shape_of(const BoundedMetric& metric, const float* grades, int64_t n, double beta = 0);
/// The shape that a script names: n and p, or grades (in any order) which say both.
ListShape shape_of(const BoundedMetric& metric, std::optional<int64_t> n, std::optional<int64_t> p,
                   const std::vector<double>& grades, double beta = 0);
/// Shapes of all lists for a metric. A list whose grades are all equal has p = n. They live
/// as long as the lists.
const std::vector<ListShape>& list_shapes(const Lists& lists, const BoundedMetric& metric, double beta = 0);

/// Over all rankings, equally likely, whatever beta is. Where every row is relevant, the one value there is; where none
/// is, NaN (the nRBP loss: 0). Kept per process; the variance of AP, O(N P), only where asked.
BoundStats bound_stats(const BoundedMetric& metric, const ListShape& shape, bool variance);

}  // namespace mr
