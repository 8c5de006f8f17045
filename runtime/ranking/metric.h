// A metric: its definition, read once, and the handle that metrics, bounds, losses and evaluations share. Nothing that
// takes a handle looks at names.
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

/// Views of what a swap of two rows changes, and the memory that they show.
struct OwnedSwaps {
  MetricSwaps views;
  std::vector<Tensor> owned;
};

/// Defines one metric for all values of its parameters. Fields that are left out mean "does not apply" or "unknown".
struct MetricDefinition {
  enum Takes : int8_t { never, maybe, always };
  /// The number in parentheses after a name, rbp(0.8): its name among options, its default, its open range, and what
  /// documentation says of it.
  struct Parameter {
    const char* name;
    double fallback, low, high;
    const char* help;
  };

  std::string name;
  std::vector<std::string> also = {};  // other names of it
  Takes cutoff = never;                // @k
  std::optional<Parameter> parameter = {};
  std::vector<std::string> options = {};  // of gain, denominator, top
  bool minimize = false;                  // less is better
  bool graded = false;                    // grades count, beyond being relevant or not
  bool compares_grades = false;           // and only which of two is higher
  bool needs_k_rows = false;              // a list with fewer rows than k counts as 0
  bool zero_without_relevant = false;     // by definition, where others have 0/0
  std::string empty = "skip";             // the rule for lists without relevant rows, where none is given
  bool loss_needs_top = false;            // without `top` a list's value depends on its batch
  bool reads_relevant_only = false;       // of the other rows, only their number matters
  bool ignores_missing = false;           // relevant rows that a run lacks do not change the value
  /// One value per list; null where a script's function says it.
  Tensor (*values)(const Ranking&, const Metric&, double empty) = nullptr;
  /// The change of the metric by a swap of two rows, for LambdaRank.
  OwnedSwaps (*swaps)(const Ranking&, const Metric&) = nullptr;
  /// The smooth form, differentiable in the scores.
  Tensor (*smooth)(const Tensor& scores, const Lists&, const Metric&, double gain) = nullptr;
  /// Closed forms of the metric over all rankings of a list.
  const ClosedForms* closed = nullptr;
  const char* about = "";  // what it is and its source, where mr.metrics does not say so
  int64_t script = 0;      // number of the script's function, 0: none
};

/// A metric with its parameters.
struct Metric {
  static constexpr int64_t all_ranks = std::numeric_limits<int64_t>::max();

  std::shared_ptr<const MetricDefinition> definition;
  std::string name;  // in evaluations
  int64_t k = all_ranks;
  double parameter = 0;
  Gain gain = Gain::exp2;
  bool by_cutoff = false;  // AP over min(P, k)
  std::optional<double> top = {};
  Ties ties = Ties::mean;
  std::string empty = "skip";
  double relevant = 1;
  /// Says all that its values depend on, ties and empty lists aside: equal for equal metrics.
  int64_t number = 0;

  bool graded() const { return definition->graded; }
  bool compares_grades() const { return definition->compares_grades; }
  bool minimize() const { return definition->minimize; }
  /// The least grade of a row that counts.
  float threshold() const;
  /// Closed forms over all rankings, or null. They and the smooth form are those of the default options.
  const ClosedForms* closed() const;
  bool has_smooth() const;
  /// The definition's name with k and the parameter: the same for equal ones, however they were written.
  std::string canonical() const;
};

inline constexpr Named<Gain> gains[] = {
    {"exp2", Gain::exp2}, {"linear", Gain::linear}, {"exp2_plus_one", Gain::exp2_plus_one}};
/// By the value of `by_cutoff`.
inline constexpr Named<bool> denominators[] = {{"relevant", false}, {"cutoff", true}};
/// The values of a list without relevant rows. A list with NaN is left out of means under "skip".
inline constexpr Named<double> empty_rules[] = {{"skip", std::numeric_limits<double>::quiet_NaN()},
                                                {"zero", 0},
                                                {"one", 1},
                                                {"nan", std::numeric_limits<double>::quiet_NaN()}};
/// Instead of such a rule: the sum that DCG is, also where no row of a list is relevant.
constexpr double by_definition = std::numeric_limits<double>::infinity();
/// A copy with one option set, by name, checked.
Metric with_option(const Metric& metric, const std::string& option, const std::variant<std::string, double>& value);

/// All metrics by name: those of runtime/ranking/metrics, and a script's own.
class MetricRegistry {
 public:
  MetricRegistry();
  /// The definition that a name begins with, by any of its names; null where there is none.
  std::shared_ptr<const MetricDefinition> find(const std::string& text) const;
  /// "ndcg@10", "nrbp(0.95)", "rbp(0.8)@5".
  Metric parse(const std::string& text) const;
  /// A metric whose values a script's function says, from now on; returns the function's number.
  int64_t define(const std::string& name, bool minimize);
  std::vector<std::string> names() const;

 private:
  std::vector<std::shared_ptr<const MetricDefinition>> definitions_;
};

/// Throws where k is needed and missing.
void check_complete(const Metric& metric);
/// One of the built-in ones, complete.
Metric to_metric(const std::string& text);

template <>
inline constexpr const char* lua::class_name<Metric> = "mr.Metric";
template <>
inline constexpr const char* lua::class_name<MetricRegistry> = "mr.MetricRegistry";

}  // namespace mr
