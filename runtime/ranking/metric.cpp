#include "runtime/ranking/metric.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <map>
#include <mutex>

#include "runtime/ranking/closed_forms.h"
#include "runtime/ranking/ideal.h"
#include "runtime/ranking/metrics/definitions.h"
#include "runtime/ranking/smooth.h"

namespace mr {
namespace {

constexpr double most_ranks = 0x1p63;

std::string as_written(double number) {
  char text[40];
  std::snprintf(text, sizeof text, "%.14g", number);
  return text;
}

/// Parses a whole text as a number; returns nothing if it is not one.
std::optional<double> number_in(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool spelled = !text.empty() && text.find_first_of(std::string("xX\0", 3)) == std::string::npos &&
                       std::isspace(static_cast<unsigned char>(text[0])) == 0;
  const bool whole = spelled && end == text.c_str() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

std::string quoted(const Metric& metric) { return "'" + metric.name + "'"; }

void set_k(Metric& metric, double k) {
  if (metric.definition->cutoff == MetricDefinition::never)
    throw ArgumentError("metric", quoted(metric) + " does not take a cutoff k");
  if (!(k >= 1 && k <= most_ranks && k == std::floor(k)))
    throw ArgumentError("k", as_written(k) + " in " + quoted(metric) + ", expected a whole number from 1 to 2^63");
  metric.k = static_cast<int64_t>(std::min(k, 0x1p53));
}

void set_parameter(Metric& metric, double value) {
  const auto& parameter = metric.definition->parameter;
  if (!parameter)
    throw ArgumentError("metric", quoted(metric) + " does not take a parameter, found (" + as_written(value) + ")");
  if (!(value > parameter->low && value < parameter->high)) {
    throw ArgumentError(parameter->name, as_written(value) + ", expected a number above " + as_written(parameter->low) +
                                             " and below " + as_written(parameter->high));
  }
  metric.parameter = value;
}

void set_number(Metric& metric, const std::string& option, double value) {
  const auto& parameter = metric.definition->parameter;
  if (option == "k") return set_k(metric, value);
  if (parameter && option == parameter->name) return set_parameter(metric, value);
  if (option == "top" && value >= 0 && gain_of(value) <= largest_gain) {
    metric.top = value;
  } else if (option == "relevant" && !std::isnan(value)) {
    metric.relevant = value;
  } else {
    throw ArgumentError(option.c_str(),
                        as_written(value) + " in " + quoted(metric) + ", expected " +
                            (option == "top"        ? "a grade from 0 to 1000"
                             : option == "relevant" ? "a number: the smallest grade that counts as relevant"
                                                    : "a text"));
  }
}

void set_text(Metric& metric, const std::string& option, const std::string& value) {
  if (option == "gain") {
    metric.gain = value_of(gains, "gain", value);
  } else if (option == "denominator") {
    metric.by_cutoff = value_of(denominators, "denominator", value);
  } else if (option == "ties") {
    metric.ties = value_of(tie_rules, "ties", value);
  } else if (option == "empty") {
    value_of(empty_rules, "empty", value);
    metric.empty = value;
  } else if (option == "name") {
    metric.name = value;
  } else {
    throw ArgumentError(option.c_str(), "'" + value + "' in " + quoted(metric) + ", expected a number");
  }
}

/// Returns a number for each distinct text; equal texts get the same number.
int64_t number_of(const std::string& text) {
  static std::mutex mutex;
  static std::map<std::string, int64_t> known;
  const std::lock_guard lock(mutex);
  return known.try_emplace(text, static_cast<int64_t>(known.size()) + 1).first->second;
}

Metric numbered(Metric metric) {
  char rest[120];
  std::snprintf(rest, sizeof rest, " %d %d %a %a %lld", static_cast<int>(metric.gain), metric.by_cutoff ? 1 : 0,
                metric.top.value_or(-1), metric.relevant, static_cast<long long>(metric.definition->script));
  metric.number = number_of(metric.canonical() + rest);
  return metric;
}

/// Removes "(0.95)" or "@10" from the start of a text and returns the number. Returns nothing if the text does not
/// start so.
std::optional<double> taken_off(std::string& rest, char open, const std::string& until) {
  if (rest.empty() || rest[0] != open) return std::nullopt;
  const size_t end = std::min(rest.find_first_of(until, 1), rest.size());
  const auto number = number_in(rest.substr(1, end - 1));
  if (!number || (open == '(' && end == rest.size())) return std::nullopt;
  rest.erase(0, open == '(' ? end + 1 : end);
  return number;
}

/// Returns the shortest text that parses to this number, so that "0.950" and "0.95" name the same metric.
std::string shortest(double number) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

size_t base_size(const std::string& text) {
  const auto in_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return static_cast<size_t>(std::find_if_not(text.begin(), text.end(), in_name) - text.begin());
}

}  // namespace

float Metric::threshold() const { return graded() ? any_gain() : static_cast<float>(relevant); }

const ClosedForms* Metric::closed() const {
  const ClosedForms* const forms = definition->closed;
  if (forms == nullptr || gain == Gain::exp2_plus_one || by_cutoff || top) return nullptr;
  return k == all_ranks || forms->with_cutoff ? forms : nullptr;
}

bool Metric::has_smooth() const {
  return definition->smooth != nullptr && k == all_ranks && gain == Gain::exp2 && !by_cutoff;
}

std::string Metric::canonical() const {
  char number[40] = "";
  if (definition->parameter) std::snprintf(number, sizeof number, "(%.17g)", parameter);
  return definition->name + number + (k == all_ranks ? "" : "@" + std::to_string(k));
}

Metric with_option(const Metric& metric, const std::string& option, const std::variant<std::string, double>& value) {
  Metric out = metric;
  if (std::holds_alternative<double>(value)) {
    set_number(out, option, std::get<double>(value));
  } else {
    set_text(out, option, std::get<std::string>(value));
  }
  return numbered(std::move(out));
}

MetricRegistry::MetricRegistry() {
  static const auto built_in = [] {
    std::vector<std::shared_ptr<const MetricDefinition>> all;
    for (MetricDefinition& each : metric_definitions())
      all.push_back(std::make_shared<const MetricDefinition>(std::move(each)));
    return all;
  }();
  definitions_ = built_in;
}

std::shared_ptr<const MetricDefinition> MetricRegistry::find(const std::string& text) const {
  const std::string base = text.substr(0, base_size(text));
  for (const auto& each : definitions_) {
    if (each->name == base || std::count(each->also.begin(), each->also.end(), base) > 0) return each;
  }
  return nullptr;
}

Metric MetricRegistry::parse(const std::string& text) const {
  const auto definition = find(text);
  if (definition == nullptr) throw ArgumentError("metric", "unknown metric '" + text + "'");
  std::string rest = text.substr(base_size(text));
  // The metric keeps the name as the script wrote it, so that error messages show that name.
  Metric metric{definition, definition->name + rest};
  metric.parameter = definition->parameter ? definition->parameter->fallback : 0;
  metric.empty = definition->empty;
  std::string name = definition->name;
  if (const auto number = taken_off(rest, '(', ")")) {
    set_parameter(metric, *number);
    name += "(" + shortest(*number) + ")";
  }
  if (const auto number = taken_off(rest, '@', "(@")) {
    set_k(metric, *number);
    name += "@" + std::to_string(metric.k);
  }
  if (!rest.empty())
    throw ArgumentError("metric", "'" + text + "' is not a metric: found '" + rest +
                                      "' after the name, expected @k or (p), such as ndcg@10 or rbp(0.9)");
  metric.name = name;
  return numbered(std::move(metric));
}

int64_t MetricRegistry::define(const std::string& name, bool minimize) {
  const auto same = [&](const auto& each) { return each->name == name; };
  definitions_.erase(std::remove_if(definitions_.begin(), definitions_.end(), same), definitions_.end());
  static std::atomic<int64_t> scripts{0};
  MetricDefinition definition{.name = name, .minimize = minimize, .script = ++scripts};
  definitions_.push_back(std::make_shared<const MetricDefinition>(definition));
  return definition.script;
}

std::vector<std::string> MetricRegistry::names() const {
  std::vector<std::string> names;
  for (const auto& each : definitions_) names.push_back(each->name);
  std::sort(names.begin(), names.end());
  return names;
}

void check_complete(const Metric& metric) {
  if (metric.definition->cutoff != MetricDefinition::always || metric.k != Metric::all_ranks) return;
  throw ArgumentError("metric", quoted(metric) + " needs k, as in '" + metric.name + "@10'");
}

Metric to_metric(const std::string& text) {
  static const MetricRegistry built_in;
  const Metric metric = built_in.parse(text);
  check_complete(metric);
  return metric;
}

}  // namespace mr
