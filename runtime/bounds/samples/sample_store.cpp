#include "runtime/bounds/samples/sample_store.h"

#include <chrono>
#include <filesystem>
#include <thread>

#include "kernels/core/threads.h"
#include "runtime/bounds/samples/sample_file.h"
#include "runtime/bounds/samples/sample_folder.h"
#include "runtime/io/processes/channel.h"

namespace mr {
namespace {

/// If the number of samples times the list length is below this, drawing them again takes no longer than reading a
/// file.
constexpr int64_t least_rows = int64_t{1} << 22;
/// If another process still draws the wanted samples after this time, they are drawn here too: that process may be
/// stopped.
constexpr std::chrono::seconds patience{30};
constexpr std::chrono::milliseconds between_looks{5};

using Shared = std::shared_ptr<const Distribution>;

Shared drawn(const MetricSampling& sampling, Device device) {
  return std::make_shared<const Distribution>(sampling.draw(device));
}

/// Draws the samples of `sampling`, and those of the metrics `also` that can use the same rankings (goes_with) and have
/// no file yet, and writes all of them to files. On the CPU all metrics are computed from the same drawn rankings. The
/// GPU draws separately for each metric, which is faster there.
Shared drawn_and_kept(SampleFolder& folder, const MetricSampling& sampling, const std::vector<MetricSampling>& also,
                      Device device) {
  std::vector<MetricSampling> all{sampling};
  for (const MetricSampling& other : also) {
    if (sampling.goes_with(other) && other.key() != sampling.key() && !folder.has(other.key())) all.push_back(other);
  }
  std::vector<Shared> out(all.size());
  if (all.size() == 1 || device == Device::cuda) {
    for (size_t m = 0; m < out.size(); ++m) out[m] = drawn(all[m], device);
  } else {
    std::vector<std::vector<double>> values = MetricSampling::draw_together(all);
    cpu::parallel_each(static_cast<int64_t>(out.size()), 1,
                       [&](size_t m) { out[m] = std::make_shared<const Distribution>(std::move(values[m])); });
  }
  for (size_t m = 0; m < out.size(); ++m) folder.keep(all[m].key(), *out[m]);
  return out[0];
}

/// Returns the distribution that the folder has for the key. Returns null if there is none, or if `sampling` cannot
/// have drawn it.
Shared kept(const SampleFolder& folder, const std::string& key, const MetricSampling& sampling) {
  Shared found = folder.find(key);
  return found && sampling.drew(*found) ? found : nullptr;
}

}  // namespace

Shared sampled_distribution(const MetricSampling& sampling, const std::vector<MetricSampling>& also, Device device,
                            Busy busy) {
  SampleFolder& folder = SampleFolder::of_user();
  if (!folder.is_open() || sampling.rows() < least_rows) return drawn(sampling, device);
  const std::string key = sampling.key();
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    if (Shared found = kept(folder, key, sampling)) return found;
    const SampleFolder::Turn turn = folder.take_turn(sampling.rankings_key());
    if (turn.mine || std::chrono::steady_clock::now() > until) {
      // Looks into the folder again: another process may have written the samples since the first lookup.
      if (Shared found = kept(folder, key, sampling)) return found;
      return drawn_and_kept(folder, sampling, also, device);
    }
    if (busy == Busy::leave) return nullptr;
    cpu::check_interrupt();
    std::this_thread::sleep_for(between_looks);
  }
}

}  // namespace mr
