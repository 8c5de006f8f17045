// Definitions of metrics. Each file of this folder defines one family of metrics in `<file>_metrics()`. The build
// collects the files, so no other list has to be changed.
#pragma once

#include <vector>

#include "runtime/ranking/closed_forms.h"
#include "runtime/ranking/metric.h"

namespace mr {

std::vector<MetricDefinition> metric_definitions();

}  // namespace mr
