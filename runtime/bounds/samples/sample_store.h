// Distributions of sampled metrics, one file each in the user's cache folder, for other processes and later runs.
// MOONRANK_SAMPLES_GIB limits the size of the folder; 0 keeps nothing.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "runtime/bounds/distribution.h"
#include "runtime/bounds/samples/sampling.h"

namespace mr {

/// A caller's choice for the case that another process is drawing the wanted samples: wait for them, or return without
/// them (`leave`).
enum class Busy : int8_t { wait, leave };

/// Returns the distribution of a sampled metric. Few samples are drawn and not kept. More are read from their file if
/// there is one, else drawn and written to a file, together with those of the metrics `also` that use the same rankings
/// and have no file. Returns null if another process is drawing the samples and `busy` is `leave`.
std::shared_ptr<const Distribution> sampled_distribution(const MetricSampling& sampling,
                                                         const std::vector<MetricSampling>& also, Device device,
                                                         Busy busy);

}  // namespace mr
