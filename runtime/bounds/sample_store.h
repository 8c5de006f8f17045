// Distributions from samples, kept for other processes and later runs in the user's cache folder: samples/ there, a
// file each. MOONRANK_SAMPLES_GIB says how much may lie there, 0 that nothing is kept.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "runtime/bounds/distribution.h"
#include "runtime/bounds/sampling.h"

namespace mr {

/// A distribution that another process draws now: to be waited for, or not.
enum class Busy : int8_t { wait, leave };

/// Read where it is kept, else drawn and kept, and those of `also` that go with it and are not kept yet with it. Null
/// where another process draws it now and is to be left.
std::shared_ptr<const Distribution> sampled_distribution(const MetricSampling& sampling,
                                                         const std::vector<MetricSampling>& also, Device device,
                                                         Busy busy);

}  // namespace mr
