#include "runtime/bounds/bound_stats.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>

#include "kernels/ranking/discount.h"

namespace mr {
namespace {

constexpr int64_t no_cutoff = std::numeric_limits<int64_t>::max();
constexpr int64_t most_rows = 100'000'000;

/// Discounts of ranks 1 .. n.
std::vector<double> discounts_of(const BoundedMetric& metric, int64_t n) {
  std::vector<double> d(static_cast<size_t>(n), 0.0);
  for (int64_t r = 1; r <= std::min(n, metric.k); ++r) {
    const auto rank = static_cast<double>(r);
    d[r - 1] = metric.family == BoundedMetric::ndcg ? discount(rank)
               : metric.family == BoundedMetric::rbp || metric.family == BoundedMetric::nrbp
                   ? std::pow(metric.p, rank - 1)
                   : 1;
  }
  return d;
}

double norm_of(const BoundedMetric& metric, const ListShape& shape, const std::vector<double>& gains,
               const std::vector<double>& d) {
  switch (metric.family) {
    case BoundedMetric::rbp:
      return 1 / (1 - metric.p);
    case BoundedMetric::nrbp:
      return (1 - std::pow(metric.p, static_cast<double>(shape.p))) / (1 - metric.p);
    case BoundedMetric::precision:
      return static_cast<double>(metric.k);
    case BoundedMetric::recall:
      return static_cast<double>(shape.p);
    default:
      break;
  }
  long double ideal = 0;
  for (size_t r = 0; r < gains.size(); ++r) ideal += static_cast<long double>(gains[r]) * d[r];
  return static_cast<double>(ideal);
}

BoundStats computed(const BoundedMetric& metric, const ListShape& shape, bool variance) {
  if (metric.family == BoundedMetric::rr) return rr_stats(shape.n, shape.p);
  if (metric.family == BoundedMetric::nrbp_loss) return nrbp_loss_stats(shape.n, shape.p);
  if (metric.family == BoundedMetric::ap) {
    BoundStats stats = ap_stats(shape.n, shape.p);
    if (variance) stats.variance = ap_variance(shape.n, shape.p);
    return stats;
  }
  std::vector<double> gains(static_cast<size_t>(shape.n), 0.0);
  std::fill(gains.begin(), gains.begin() + shape.p, 1.0);
  for (size_t i = 0; i < shape.grades.size(); ++i) gains[i] = gain_of(shape.grades[i]);
  const std::vector<double> d = discounts_of(metric, shape.n);
  return linear_stats(gains, d, norm_of(metric, shape, gains, d));
}

/// "@10" or "(0.95)" after a name, or nothing.
std::string suffix_number(const std::string& name, const std::string& text, char open, const std::string& close) {
  if (text.size() < 2 || text[0] != open || text.substr(text.size() - close.size()) != close) {
    throw ArgumentError("metric", "'" + name + "' is no metric with known bounds");
  }
  return text.substr(1, text.size() - 1 - close.size());
}

double to_number(const std::string& name, const std::string& digits) {
  char* end = nullptr;
  const double value = std::strtod(digits.c_str(), &end);
  if (digits.empty() || *end != '\0') throw ArgumentError("metric", "'" + name + "': '" + digits + "' is no number");
  return value;
}

const std::map<std::string, BoundedMetric::Family>& families() {
  static const std::map<std::string, BoundedMetric::Family> all{
      {"ndcg", BoundedMetric::ndcg},     {"ap", BoundedMetric::ap},
      {"rr", BoundedMetric::rr},         {"rbp", BoundedMetric::rbp},
      {"nrbp", BoundedMetric::nrbp},     {"nrbp_loss", BoundedMetric::nrbp_loss},
      {"recall", BoundedMetric::recall}, {"precision", BoundedMetric::precision}};
  return all;
}

bool counts_hits(BoundedMetric::Family family) {
  return family == BoundedMetric::precision || family == BoundedMetric::recall;
}
bool takes_k(BoundedMetric::Family family) { return family == BoundedMetric::ndcg || counts_hits(family); }
bool takes_p(BoundedMetric::Family family) { return family == BoundedMetric::rbp || family == BoundedMetric::nrbp; }

}  // namespace

bool is_bounded_metric(const std::string& name) {
  const auto found = families().find(name.substr(0, name.find_first_of("@(")));
  if (found == families().end()) return false;
  const size_t k = name.find('@'), p = name.find('(');
  const bool has_k = k != std::string::npos, has_p = p != std::string::npos;
  return (!has_k || takes_k(found->second)) && (!has_p || takes_p(found->second));
}

BoundedMetric to_bounded_metric(const std::string& name) {
  const size_t mark = std::min(name.find_first_of("@("), name.size());
  const std::string base = name.substr(0, mark), rest = name.substr(mark);
  const auto found = families().find(base);
  if (found == families().end()) {
    throw ArgumentError("metric",
                        "no bounds for '" + name +
                            "'; there are: ap, ndcg, ndcg@k, nrbp(p), nrbp_loss, precision@k, rbp(p), recall@k, rr");
  }
  BoundedMetric metric{found->second, no_cutoff, 0.95, name};
  const bool has_k = takes_k(metric.family), has_p = takes_p(metric.family);
  if (has_k && !rest.empty()) {
    const double k = to_number(name, suffix_number(name, rest, '@', ""));
    if (!(k >= 1 && k <= static_cast<double>(most_rows) && k == std::floor(k)))
      throw ArgumentError("metric", "'" + name + "': k must be a whole number from 1");
    metric.k = static_cast<int64_t>(k);
  }
  if (has_p && !rest.empty()) metric.p = to_number(name, suffix_number(name, rest, '(', ")"));
  if (!has_k && !has_p && !rest.empty())
    throw ArgumentError("metric", "'" + base + "' takes nothing after its name, found '" + rest + "'");
  if (!(metric.p > 0 && metric.p < 1)) throw ArgumentError("metric", "'" + name + "': p must be between 0 and 1");
  if (metric.family == BoundedMetric::precision && metric.k == no_cutoff)
    throw ArgumentError("metric", "'precision' needs k, as in 'precision@10'");
  return metric;
}

bool degenerate(const BoundedMetric& metric, const ListShape& shape) {
  // nDCG with a cut-off still tells which grade is first
  return shape.of_one_kind() || (counts_hits(metric.family) && metric.k >= shape.n);
}

ListShape shape_of(const BoundedMetric& metric, const float* grades, int64_t n, double beta) {
  // smaller grades have a gain of 0
  const float threshold = metric.graded() ? static_cast<float>(std::numeric_limits<double>::epsilon()) : 1.0F;
  const float* const end = grades + n;
  ListShape shape{n, std::count_if(grades, end, [threshold](float y) { return y >= threshold; }), {}, beta};
  const float top = n == 0 ? 0 : *std::max_element(grades, end);
  const bool differ = metric.graded() && std::any_of(grades, end, [=](float y) { return y >= threshold && y != top; });
  // the metric of one grade is that of grade 1, the weights are not
  const bool weighted = metric.graded() && beta != 0 && top != 1 && shape.p > 0;
  if (differ || weighted) {
    shape.grades.assign(grades, end);
    std::sort(shape.grades.begin(), shape.grades.end(), std::greater<>());
  }
  // with every row graded the ends still differ; p < n keeps the rows from counting as all alike
  if (differ) shape.p = std::min(shape.p, n - 1);
  return shape;
}

ListShape shape_of(const BoundedMetric& metric, std::optional<int64_t> n, std::optional<int64_t> p,
                   const std::vector<double>& grades, double beta) {
  if (grades.empty()) {
    if (!n) throw ArgumentError("n", "is missing: n and p are needed, or grades");
    if (!p) throw ArgumentError("p", "is missing: n and p are needed, or grades");
    if (*n < 1 || *n > most_rows)
      throw ArgumentError("n", std::to_string(*n) + ", expected 1 to " + std::to_string(most_rows));
    if (*p < 0 || *p > *n)
      throw ArgumentError("p", std::to_string(*p) + " of " + std::to_string(*n) + ", expected 0 to n");
    return {*n, *p, {}, beta};
  }
  const auto rows = static_cast<int64_t>(grades.size());
  if (n.value_or(rows) != rows)
    throw ArgumentError("n", std::to_string(*n) + ", but there are " + std::to_string(rows) + " grades");
  if (p) throw ArgumentError("p", "follows from the grades, expected either");
  for (const double y : grades) {
    if (!(y >= 0 && y <= 1000)) throw ArgumentError("grades", std::to_string(y) + ", expected 0 to 1000");
  }
  const std::vector<float> as_in_lists(grades.begin(), grades.end());
  return shape_of(metric, as_in_lists.data(), rows, beta);
}

const std::vector<ListShape>& list_shapes(const Lists& lists, const BoundedMetric& metric, double beta) {
  char key[64];
  std::snprintf(key, sizeof key, "%s shapes %a", metric.graded() ? "graded" : "binary", beta);
  return lists.cached<std::vector<ListShape>>(key, [&] {
    const auto shape = [&](const float* grades, int64_t n) { return shape_of(metric, grades, n, beta); };
    return lists.per_list<ListShape>(key, shape);
  });
}

BoundStats bound_stats(const BoundedMetric& metric, const ListShape& shape, bool variance) {
  if (shape.p == 0) {
    const double none = metric.family == BoundedMetric::nrbp_loss ? 0 : std::numeric_limits<double>::quiet_NaN();
    return {none, none, none, none, none};
  }
  static std::mutex mutex;
  static std::map<std::pair<std::string, ListShape>, BoundStats> known;
  const std::pair<std::string, ListShape> key{metric.name + (variance ? "+" : ""), shape};
  {
    const std::lock_guard lock(mutex);
    const auto found = known.find(key);
    if (found != known.end()) return found->second;
  }
  const BoundStats stats = computed(metric, shape, variance);
  const std::lock_guard lock(mutex);
  if (known.size() > 100000) known.clear();
  return known[key] = stats;
}

}  // namespace mr
