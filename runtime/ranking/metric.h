// A metric: its definition, parsed once from its name, and a handle on it, which bounds, losses and evaluations share.
// Code that gets a handle does not parse names.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "kernels/ranking/rows.h"
#include "runtime/ranking/ranking.h"

namespace mr {

struct ClosedForms;
struct Metric;

/// The change of a metric if two rows swap ranks, in the form that kernels read (`views`), and the tensors that own the
/// memory of the views.
struct OwnedSwaps {
  MetricSwaps views;
  std::vector<Tensor> owned;
};

/// Defines one metric for all values of its parameters. Fields that are left out mean "does not apply" or "unknown".
struct MetricDefinition {
  enum Takes : int8_t { never, maybe, always };
  /// The number in parentheses after a metric's name, as in rbp(0.8): its name as an option, its default, its range and
  /// its documentation.
  struct Parameter {
    const char* name;
    double fallback, low, high;
    const char* help;
  };

  std::string name;
  std::vector<std::string> also = {};  // other names by which scripts may call the metric
  Takes cutoff = never;                // @k
  std::optional<Parameter> parameter = {};
  std::vector<std::string> options = {};  // names of the supported options among gain, denominator, top
  bool minimize = false;                  // true if smaller values of the metric are better
  bool graded = false;                    // true if the metric depends on grades, not only on relevance
  bool compares_grades = false;           // true if the metric only compares which of two grades is higher
  bool needs_k_rows = false;              // true if a list with fewer than k rows has the value 0
  bool zero_without_relevant = false;     // true if lists without relevant rows are 0 by definition, not undefined
  std::string empty = "skip";             // default rule for the value of lists without relevant rows
  // true if, without `top` (the largest grade), a list's loss depends on the other lists of its batch
  bool loss_needs_top = false;
  // true if the metric depends only on the ranks of relevant rows and the number of rows
  bool reads_relevant_only = false;
  // true if relevant rows that are missing in a run (a system's ranking in a file) do not change the value
  bool ignores_missing = false;
  /// Computes one value per list. Null if a Lua function computes the values of the metric.
  Tensor (*values)(const Ranking&, const Metric&, double empty) = nullptr;
  /// Computes the change of the metric by a swap of two rows, for LambdaRank.
  OwnedSwaps (*swaps)(const Ranking&, const Metric&) = nullptr;
  /// Computes the smooth form of the metric, differentiable in the scores.
  Tensor (*smooth)(const Tensor& scores, const Lists&, const Metric&, double steepness) = nullptr;
  /// Closed forms of the metric's statistics over all rankings of a list; null if there are none.
  const ClosedForms* closed = nullptr;
  const char* about = "";  // description and source of the metric, if mr.metrics does not document it
  int64_t script = 0;      // identifies the Lua function that computes the metric; 0: no Lua function
};

/// A metric with its parameters, such as the cutoff k.
struct Metric {
  static constexpr int64_t all_ranks = std::numeric_limits<int64_t>::max();

  std::shared_ptr<const MetricDefinition> definition;
  std::string name;  // name of the metric in evaluations
  int64_t k = all_ranks;
  double parameter = 0;
  Gain gain = Gain::exp2;
  bool by_cutoff = false;  // true if AP divides by min(P, k) instead of P relevant rows
  std::optional<double> top = {};
  Ties ties = Ties::mean;
  std::string empty = "skip";
  double relevant = 1;
  /// Number of the metric with its parameters and options, except its rules for ties and for lists without relevant
  /// rows. Handles that differ in these two rules only have equal numbers. The number is a key of caches.
  int64_t number = 0;

  bool graded() const { return definition->graded; }
  bool compares_grades() const { return definition->compares_grades; }
  bool minimize() const { return definition->minimize; }
  /// Returns the smallest grade of a row that counts as relevant; for graded metrics, the smallest grade with a gain
  /// above 0.
  float threshold() const;
  /// Returns the closed forms of the metric's statistics over all rankings of a list. Returns null if there are none,
  /// or if an option has a value for which they do not hold.
  const ClosedForms* closed() const;
  bool has_smooth() const;
  /// Returns the definition's name with k and the parameter, independent of how the script wrote them.
  std::string canonical() const;
};

inline constexpr Named<Gain> gains[] = {
    {"exp2", Gain::exp2}, {"linear", Gain::linear}, {"exp2_plus_one", Gain::exp2_plus_one}};
/// The values of AP's option `denominator` by name: AP divides by the number of relevant rows, or by the smaller of
/// that number and the cutoff (`by_cutoff`).
inline constexpr Named<bool> denominators[] = {{"relevant", false}, {"cutoff", true}};
/// The rules for the value of a list without relevant rows, by name. "skip" and "nan" both give NaN; under "skip",
/// means leave out lists whose value is NaN.
inline constexpr Named<double> empty_rules[] = {{"skip", std::numeric_limits<double>::quiet_NaN()},
                                                {"zero", 0},
                                                {"one", 1},
                                                {"nan", std::numeric_limits<double>::quiet_NaN()}};
/// Used in place of a value of `empty_rules`, for DCG: the value of a list without relevant rows is then the sum of its
/// gains.
constexpr double by_definition = std::numeric_limits<double>::infinity();
/// Returns a copy of `metric` in which the option with this name has this value. Throws if the metric has no such
/// option or the value is wrong.
Metric with_option(const Metric& metric, const std::string& option, const std::variant<std::string, double>& value);

/// All metrics by name: those of runtime/ranking/metrics, and those that a script defines.
class MetricRegistry {
 public:
  MetricRegistry();
  /// Returns the metric definition with whose name, or other name, `text` begins; null if there is none.
  std::shared_ptr<const MetricDefinition> find(const std::string& text) const;
  /// Parses a name: "ndcg@10", "nrbp(0.95)", "rbp(0.8)@5".
  Metric parse(const std::string& text) const;
  /// Registers a metric whose values a Lua function computes; returns the function's number.
  int64_t define(const std::string& name, bool minimize);
  std::vector<std::string> names() const;

 private:
  std::vector<std::shared_ptr<const MetricDefinition>> definitions_;
};

/// Throws if the metric needs a cutoff k, as in "precision@10", and its name has none.
void check_complete(const Metric& metric);
/// Parses a built-in metric and checks that it is complete.
Metric to_metric(const std::string& text);

template <>
inline constexpr const char* lua::class_name<Metric> = "mr.Metric";
template <>
inline constexpr const char* lua::class_name<MetricRegistry> = "mr.MetricRegistry";

}  // namespace mr
