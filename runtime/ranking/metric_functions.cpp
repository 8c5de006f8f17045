// Lua functions for metrics: the registry, handles, and exact values per list.
#include "runtime/ops/argument_checks.h"
#include "runtime/ranking/closed_forms.h"
#include "runtime/ranking/ideal.h"
#include "runtime/ranking/metric.h"

namespace mr {
namespace {

MetricRegistry new_registry() { return {}; }

Metric parse_of(const MetricRegistry& registry, const std::string& text) { return registry.parse(text); }
std::optional<std::string> base_of(const MetricRegistry& registry, const std::string& text) {
  const auto found = registry.find(text);
  return found != nullptr ? std::optional(found->name) : std::nullopt;
}
int64_t define_in(MetricRegistry& registry, const std::string& name, bool minimize) {
  return registry.define(name, minimize);
}
std::vector<std::string> names_in(const MetricRegistry& registry) { return registry.names(); }

/// Returns the names of the options that the metric has in addition to those of all metrics.
std::vector<std::string> option_names(const Metric& metric) {
  std::vector<std::string> names = metric.definition->options;
  if (metric.definition->cutoff != MetricDefinition::never) names.emplace_back("k");
  if (metric.definition->parameter) names.emplace_back(metric.definition->parameter->name);
  return names;
}

std::vector<std::string> choices_of(const MetricRegistry&, const std::string& option) {
  if (option == "ties") return names_of(tie_rules);
  if (option == "empty") return names_of(empty_rules);
  if (option == "gain") return names_of(gains);
  if (option == "denominator") return names_of(denominators);
  return {};
}

/// Returns range and documentation of the number in parentheses after the metric's name, or 0, 0 and "".
std::tuple<double, double, std::string> parameter_range(const Metric& metric) {
  const auto& parameter = metric.definition->parameter;
  return parameter ? std::tuple<double, double, std::string>(parameter->low, parameter->high, parameter->help)
                   : std::tuple<double, double, std::string>();
}

bool lacks_top(const Metric& metric) { return metric.definition->loss_needs_top && !metric.top; }
bool needs_k(const Metric& metric) { return metric.definition->cutoff == MetricDefinition::always; }

std::string name_of_metric(const Metric& metric) { return metric.name; }
std::string base_name(const Metric& metric) { return metric.definition->name; }
bool minimizes(const Metric& metric) { return metric.minimize(); }
bool has_closed_forms(const Metric& metric) { return metric.closed() != nullptr; }
bool has_swaps(const Metric& metric) { return metric.definition->swaps != nullptr; }
bool has_smooth_form(const Metric& metric) { return metric.has_smooth(); }
bool sums_gains(const Metric& metric) { return metric.graded() && !metric.compares_grades(); }
bool needs_k_rows(const Metric& metric) { return metric.definition->needs_k_rows; }
bool zero_without_relevant(const Metric& metric) { return metric.definition->zero_without_relevant; }
bool reads_relevant_only(const Metric& metric) { return metric.definition->reads_relevant_only; }
bool ignores_missing(const Metric& metric) { return metric.definition->ignores_missing; }
double value_of_empty(const Metric& metric) { return value_of(empty_rules, "empty", metric.empty); }
std::string about_of(const Metric& metric) { return metric.definition->about; }
std::vector<std::string> other_names(const Metric& metric) { return metric.definition->also; }
int64_t script_of(const Metric& metric) { return metric.definition->script; }
int64_t number_of_metric(const Metric& metric) { return metric.number; }
std::optional<int64_t> cutoff_of(const Metric& metric) {
  return metric.k != Metric::all_ranks ? std::optional(metric.k) : std::nullopt;
}
double parameter_of(const Metric& metric) { return metric.parameter; }
std::optional<std::string> parameter_name(const Metric& metric) {
  const auto& parameter = metric.definition->parameter;
  return parameter ? std::optional<std::string>(parameter->name) : std::nullopt;
}
std::optional<double> top_of(const Metric& metric) { return metric.top; }
double relevant_of(const Metric& metric) { return metric.relevant; }
std::string ties_of(const Metric& metric) { return name_of(tie_rules, metric.ties); }
std::string empty_of(const Metric& metric) { return metric.empty; }
std::string gain_name(const Metric& metric) { return name_of(gains, metric.gain); }
std::string denominator_of(const Metric& metric) { return name_of(denominators, metric.by_cutoff); }

/// Returns the metric's value for each list. `empty` names the rule for lists without relevant rows, instead of the
/// metric's own rule. "definition" is for DCG only: the sum over rows, even if none is relevant.
Tensor values_of(const Metric& metric, const Ranking& ranking, const std::string& empty) {
  if (metric.definition->values == nullptr)
    throw ArgumentError("metric",
                        "'" + metric.name + "' is defined by the script: call the script's function for its values");
  return metric.definition->values(ranking, metric,
                                   empty == "definition" ? by_definition : value_of(empty_rules, "empty", empty));
}

Tensor best_values(const Metric& metric, const Lists& lists) {
  Ranking ranking =
      rank_rows(lists.relevance(default_device()), lists, Ties::stable, static_cast<float>(metric.relevant));
  ranking.dtype = Dtype::float64;
  return values_of(metric, ranking, "zero");
}

/// Throws if a graded metric's gains are too large to be summed.
void check_gains_of(const Metric& metric, const Lists& lists) {
  if (sums_gains(metric)) check_gains(lists, metric.gain);
}

/// Applies the rule for lists without relevant rows to values that a script computed.
Tensor with_empty(const Tensor& values, const Ranking& r, const std::string& empty) {
  check::per_list("values", values, r.lists);
  const std::vector<int64_t>& relevant = r.lists.relevant(r.threshold);
  Tensor out;
  with_real(values.dtype(), [&]<class Real>() {
    std::vector<Real> filled = values.to_vector<Real>();
    for (size_t l = 0; l < filled.size(); ++l) {
      if (relevant[l] == 0) filled[l] = static_cast<Real>(value_of(empty_rules, "empty", empty));
    }
    out = Tensor::from(filled, values.device());
  });
  return out;
}

}  // namespace

using lua::once;
using lua::op;
extern const lua::OpTable metric_functions{
    lua::OpTable::functions,
    nullptr,
    {
        op<&new_registry>("metric_registry", "", "The built-in metrics. A script can add its own."),
        op<&with_empty>("with_empty", "values, ranking, empty",
                        "Applies the rule for lists without relevant rows to values per list."),
    }};
extern const lua::OpTable metric_registry_methods{
    lua::OpTable::methods,
    &lua::push_metatable<MetricRegistry>,
    {
        op<&parse_of>("parse", "self, text", "Parses a metric's name with k and parameter."),
        op<&base_of>("base", "self, text",
                     "The metric's name without k and parameter, translated if other libraries use another name. nil "
                     "if there is none."),
        once<&define_in>("define", "self, name, minimize",
                         "Adds a metric that a Lua function computes. Returns the function's number."),
        op<&names_in>("names", "self", "Names of all metrics, sorted."),
        op<&choices_of>("choices", "self, option", "Values of a metric option whose values are names."),
    }};
extern const lua::OpTable metric_methods{
    lua::OpTable::methods,
    &lua::push_metatable<Metric>,
    {
        op<&with_option>("with", "self, option, value", "The metric with one option set."),
        op<&option_names>("option_names", "self", "Options that the metric has in addition to those of all metrics."),
        op<&parameter_range>("parameter_range", "self", "Limits and documentation of the number in parentheses."),
        op<&values_of>("values", "self, ranking, empty", "Exact values, one per list."),
        op<&best_values>("best_values", "self, lists",
                         "Exact values of the ranking by grade, one per list; float64; 0 without relevant rows."),
        op<&check_gains_of>("check_gains", "self, lists",
                            "Raises an error that names list and row if a gain is too large to be summed."),
    }};
extern const lua::OpTable metric_getters{
    lua::OpTable::getters,
    &lua::push_metatable<Metric>,
    {
        op<&name_of_metric>("name", "self", "The name, as in \"ndcg@10\" or as the script chose it."),
        op<&base_name>("base", "self", "Name without k and parameter."),
        op<&minimizes>("minimize", "self", "True if smaller values are better."),
        op<&has_closed_forms>("closed_forms", "self",
                              "True if the metric has closed forms, so that bounds need no samples."),
        op<&has_swaps>("swaps", "self", "True if the change by a swap of two rows is known (for LambdaRank)."),
        op<&has_smooth_form>("has_smooth", "self", "True if the metric has a smooth form."),
        op<&zero_without_relevant>("zero", "self", "True if lists without relevant rows are 0 by definition."),
        op<&sums_gains>("sums_gains", "self", "True if all rows with a gain count, not only relevant rows."),
        op<&needs_k_rows>("needs_k_rows", "self", "True if lists with fewer than k rows are 0."),
        op<&reads_relevant_only>("reads_relevant_only", "self", "True if irrelevant rows matter only by their number."),
        op<&ignores_missing>("ignores_missing", "self", "True if relevant rows that a run lacks do not matter."),
        op<&value_of_empty>("empty_value", "self", "Value of a list without relevant rows; NaN if it is skipped."),
        op<&about_of>("about", "self", "Description, if mr.metrics has no function that documents the metric."),
        op<&other_names>("also", "self", "Other names of the metric."),
        op<&lacks_top>("lacks_top", "self", "True if a loss of this metric needs the option `top`, which is not set."),
        op<&needs_k>("needs_k", "self", "True if the metric requires k."),
        op<&script_of>("script", "self", "Number of the Lua function, or 0."),
        op<&number_of_metric>("number", "self",
                              "A number that is equal for equal metrics, except for tie and empty rules."),
        op<&cutoff_of>("k", "self", "The cutoff; nil: all ranks."),
        op<&parameter_of>("parameter", "self", "The number in parentheses."),
        op<&parameter_name>("parameter_name", "self", "The parameter's name as an option, or nil."),
        op<&top_of>("top", "self", "Largest grade for ERR; nil: the largest in the lists."),
        op<&relevant_of>("relevant", "self", "Smallest grade of a relevant row."),
        op<&ties_of>("ties", "self", "The tie rule."),
        op<&empty_of>("empty", "self", "The rule for lists without relevant rows."),
        op<&gain_name>("gain", "self", "The gain of grades."),
        op<&denominator_of>("denominator", "self", "The divisor of AP."),
    }};

}  // namespace mr
