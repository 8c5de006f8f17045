// Smooth ranking metrics of judged lists, one value per list.
#pragma once

#include "runtime/ops/lists.h"

namespace mr {

/// The least relevance whose gain 2^y - 1 is above 0 in float64.
float any_gain();

}  // namespace mr
