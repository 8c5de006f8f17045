// Time-biased gain (Smucker & Clarke 2012) with its authors' user model. Reading a summary takes 4.4 seconds. The
// summary is clicked with probability 0.64 if the row is relevant and 0.39 otherwise. Reading the document then takes
// 7.8 seconds plus 0.018 seconds per word, with 500 words per document. A relevant document that was clicked is saved
// with probability 0.77.

#include "kernels/core/functions.h"
#include "runtime/ranking/metrics/values.h"

namespace mr {
namespace {

constexpr double words = 500, summary = 4.4, click_relevant = 0.64, click_other = 0.39, save = 0.77;
constexpr double document = 0.018 * words + 7.8;

TimeBias bias_of(const Metric& metric) {
  const auto left_after = [&](double seconds) {
    return portable::base_of(portable::exp2(-seconds / metric.parameter));
  };
  return {.relevant = left_after(summary + click_relevant * document),
          .other = left_after(summary + click_other * document),
          .gain = click_relevant * save};
}

Tensor values(const Ranking& r, const Metric& metric, double empty) {
  return metric_values(r, metric, empty, [&]<class Real>(const MetricKernels<Real>& table, const MetricViews<Real>& v) {
    table.time_biased_gain(r.lists.count(), {.v = v, .bias = bias_of(metric)});
  });
}

OwnedSwaps swaps(const Ranking&, const Metric& metric) {
  return {.views = TimeBiasSwaps{.bias = bias_of(metric)}, .owned = {}};
}

}  // namespace

std::vector<MetricDefinition> time_biased_gain_metrics() {
  return {
      {.name = "tbg",
       .parameter =
           MetricDefinition::Parameter{
               .name = "half_life", .fallback = 224, .low = 1, .high = 1e6, .help = "half-life in seconds"},
       .zero_without_relevant = true,
       .ignores_missing = true,
       .values = &values,
       .swaps = &swaps,
       .about =
           "Time-biased gain (Smucker & Clarke 2012): 0.4928 for each relevant row, times 2^(-seconds / half_life) "
           "where "
           "seconds is how long the rows above take: 15.152 a relevant one, 10.952 another (documents of 500 words)."}};
}

}  // namespace mr
