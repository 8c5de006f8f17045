// Distributions from samples, one file each, in samples/ of the user's cache folder, for other processes and later
// runs. MOONRANK_SAMPLES_GIB limits the folder's size; 0 keeps nothing.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "runtime/bounds/distribution.h"
#include "runtime/bounds/samples/sampling.h"

namespace mr {

/// Whether to wait for a distribution that another process is drawing, or to do without it.
enum class Busy : int8_t { wait, leave };

/// Reads the distribution if a file has it. Otherwise draws and keeps it, together with those of `also` that use the
/// same rankings and are not kept. Returns null if another process is drawing it and `busy` is `leave`.
std::shared_ptr<const Distribution> sampled_distribution(const MetricSampling& sampling,
                                                         const std::vector<MetricSampling>& also, Device device,
                                                         Busy busy);

}  // namespace mr
