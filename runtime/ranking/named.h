// Values that scripts choose by name, for example a tie rule. A table lists the names and values, for reading
// arguments, for error messages and for the options of metrics.
#pragma once

#include <string>
#include <vector>

#include "runtime/ops/argument_checks.h"

namespace mr {

template <class Value>
struct Named {
  const char* name;
  Value value;
};

template <class Value, size_t count>
std::vector<std::string> names_of(const Named<Value> (&all)[count]) {
  std::vector<std::string> names;
  for (const auto& each : all) names.emplace_back(each.name);
  return names;
}

/// Returns the value of a name. Throws an error that says which names there are.
template <class Value, size_t count>
Value value_of(const Named<Value> (&all)[count], const char* option, const std::string& name) {
  std::string known;
  for (const auto& each : all) {
    if (name == each.name) return each.value;
    known += (known.empty() ? "'" : ", '") + std::string(each.name) + "'";
  }
  throw ArgumentError(option, "'" + name + "', expected one of " + known);
}

template <class Value, size_t count>
const char* name_of(const Named<Value> (&all)[count], Value value) {
  size_t i = 0;
  while (i + 1 < count && all[i].value != value) ++i;
  return all[i].name;
}

}  // namespace mr
