// Every file of this folder offers the definitions of one family of metrics, `<file>_metrics()`. The build lists the
// files; nothing else names them.
#pragma once

#include <vector>

#include "runtime/ranking/closed_forms.h"
#include "runtime/ranking/metric.h"

namespace mr {

/// The definitions of all families.
std::vector<MetricDefinition> metric_definitions();

}  // namespace mr
