// The distribution bound (Westerborg 2022, Eq. 3.12): it maps a list's metric to the smoothed distribution function of
// the metric over random rankings of the list, or to the logarithm or logit of that function.
#include "kernels/bounds/rows.h"
#include "kernels/tensor/rows.h"
#include "runtime/autograd/node.h"
#include "runtime/bounds/ranking_distribution.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/tensor/device_array.h"

namespace mr {

/// The options of a distribution bound. They are parsed once, when the bound is made.
struct DistributionSpec {
  DistributionForm form;
  Finding finding;
  Smoothing how;
  double beta;
};
template <>
inline constexpr const char* lua::class_name<DistributionSpec> = "mr.DistributionSpec";

namespace {

DistributionForm to_form(const std::string& form) {
  if (form == "cdf") return DistributionForm::cdf;
  if (form == "log") return DistributionForm::log;
  if (form == "logit") return DistributionForm::logit;
  throw ArgumentError("form", "'" + form + "', expected 'cdf', 'log' or 'logit'");
}

/// The tables of smoothed distribution functions F~, one per list. `owned` keeps the tables in memory, and `views` are
/// pointers to them on the device.
struct ListTables {
  std::vector<std::optional<SmoothCdf>> owned;
  DeviceArray<LogitView> views;
};

/// Cache key of the tables of F~, the smoothed distribution functions, which are cached with the lists.
struct TablesKey {
  int64_t metric;
  Method method;
  int64_t samples, seed;
  Smoothing::Kind kind;
  double amount, beta;
  Device device;
  auto operator<=>(const TablesKey&) const = default;
};

ListTables tables_on(Device device, std::vector<std::optional<SmoothCdf>> owned) {
  std::vector<LogitView> views(owned.size());
  for (size_t l = 0; l < owned.size(); ++l) {
    if (owned[l]) views[l] = std::get<std::shared_ptr<const LogitTable>>(*owned[l])->view(device);
  }
  return {.owned = std::move(owned), .views = {views, device}};
}

/// Records the operation of a distribution bound for backward. `score` is the metric of each list, `value` its bound
/// and `derivative` the derivative of the bound by the metric.
Tensor recorded(const Tensor& score, const Tensor& value, const Tensor& derivative) {
  return record("distribution_bound", value, {score}, [derivative](const Tensor& g) -> Gradients {
    Tensor out = Tensor::empty(g.shape(), g.dtype(), g.device());
    with_real(g.dtype(), [&]<class Real>() {
      kernels<ArithmeticKernels<Real>>(g.device())
          .mul(g.entries(), {g.span<const Real>(), derivative.span<const Real>(), out.span<Real>(), {}, {}});
    });
    return {out};
  });
}

Tensor by_tables(const Tensor& score, const ListTables& tables, DistributionForm form, bool minimize) {
  const Tensor value = Tensor::empty(score.shape(), score.dtype(), score.device());
  const Tensor derivative = Tensor::empty(score.shape(), score.dtype(), score.device());
  with_real(score.dtype(), [&]<class Real>() {
    kernels<BoundKernels<Real>>(score.device())
        .distribution_bound(score.entries(), {.tables = tables.views.span(),
                                              .score = score.span<const Real>(),
                                              .form = form,
                                              .minimize = minimize,
                                              .value = value.span<Real>(),
                                              .derivative = derivative.span<Real>()});
  });
  return recorded(score, value, derivative);
}

/// Computes a distribution bound on the host, without tables: F~, the smoothed distribution function, is summed over
/// the values of the metric (Westerborg 2022, Eq. 3.13).
Tensor by_values(const Tensor& score, const std::vector<std::optional<SmoothCdf>>& cdfs) {
  const auto s = score.to(Dtype::float64).to_vector<double>();
  std::vector<double> value(s.size(), 0.0), derivative(s.size(), 0.0);
  for (size_t l = 0; l < s.size(); ++l) {
    if (!cdfs[l]) continue;
    const Distribution& d = *std::get<std::shared_ptr<const Distribution>>(*cdfs[l]);
    const Smoothed smoothed = d.smooth(s[l], d.sample_steepness());
    value[l] = smoothed.value;
    derivative[l] = smoothed.derivative;
  }
  const auto tensor = [&](const std::vector<double>& v) {
    return Tensor::from(v).to(score.dtype()).to(score.device());
  };
  return recorded(score, tensor(value), tensor(derivative));
}

DistributionSpec spec_of(const std::string& form, const std::string& method, int64_t samples, int64_t seed,
                         const std::string& steepness, double amount, double beta) {
  check::finite("beta", beta);
  const DistributionSpec spec{.form = to_form(form),
                              .finding = to_finding(method, samples, seed),
                              .how = to_smoothing(steepness, amount),
                              .beta = beta};
  if (spec.how.kind == Smoothing::by_samples && spec.form != DistributionForm::cdf)
    throw ArgumentError("steepness",
                        "'samples' cannot be used with form '" + form +
                            "': it can be infinite where the smoothed distribution function is 0 or 1, beyond the "
                            "sampled values of the metric. Use form 'cdf', or steepness 'kappa'");
  return spec;
}

DistributionSpec with_samples_of(const DistributionSpec& spec, const Metric& metric) {
  closed_forms_of(metric);
  DistributionSpec out = spec;
  out.finding.also.push_back(metric);
  return out;
}

using Cdfs = std::vector<std::optional<SmoothCdf>>;

/// Returns the distribution functions of the lists with these numbers, counted from 1.
Cdfs chosen(const Cdfs& all, const Tensor& numbers) {
  Cdfs out;
  for (const int64_t n : numbers.to_vector<int64_t>()) out.push_back(all[n - 1]);
  return out;
}

/// Returns the distribution bound of every list's metric, `score`: F~(score), its logarithm or its logit, where F~ is
/// the smoothed distribution function of the list. Degenerate lists (all rankings have the same value) get 0 without
/// gradient. With `numbers`, score[i] belongs to list numbers[i]. The tables of F~ are cached with the lists.
Tensor distribution_bound(const Tensor& score, const Lists& lists, const Metric& metric, const DistributionSpec& spec,
                          const std::optional<Tensor>& numbers) {
  check::floating("score", score);
  if (numbers) {
    check::index("numbers", *numbers, lists.count());
    check::same_shape("numbers", *numbers, "score", score);
  } else {
    check::per_list("score", score, lists);
  }
  check_grades(metric, lists);
  const auto& [form, finding, how, beta] = spec;
  const auto cdfs = [&] {
    return smooth_cdfs(metric, list_shapes(lists, metric, spec.beta), spec.finding, spec.how, score.device());
  };
  if (how.kind == Smoothing::by_samples) return by_values(score, numbers ? chosen(cdfs(), *numbers) : cdfs());
  const TablesKey key{metric.number, finding.method, finding.samples, finding.seed, how.kind,
                      how.amount,    beta,           score.device()};
  const ListTables& tables = lists.cached<ListTables>(key, [&] { return tables_on(score.device(), cdfs()); });
  if (!numbers) return by_tables(score, tables, form, metric.minimize());
  return by_tables(score, tables_on(score.device(), chosen(tables.owned, *numbers)), form, metric.minimize());
}

/// Returns F(score) for scores of several copies of the lists, copy after copy: the share of a list's random rankings
/// whose metric is at most the score. F is not smoothed, so it has no derivative. Lists whose metric has too many
/// values to list get F~ instead, and degenerate lists get 0.
Tensor distribution_shares(const Tensor& score, const Lists& lists, const Metric& metric,
                           const DistributionSpec& spec) {
  check::floating("score", score);
  const auto count = static_cast<size_t>(lists.count());
  if (count == 0 ? score.entries() > 0 : score.entries() % lists.count() != 0)
    throw ArgumentError("score", std::to_string(score.entries()) + " scores for copies of " + std::to_string(count) +
                                     " lists, expected a multiple of their number");
  const std::vector<ListShape>& shapes = list_shapes(lists, metric, spec.beta);
  std::vector<ListShape> listed;
  std::vector<std::optional<size_t>> place(count);  // of each list's shape in `listed`
  for (size_t l = 0; l < count; ++l) {
    if (spec.finding.method == Method::sampled || !has_atoms(metric, shapes[l])) continue;
    place[l] = listed.size();
    listed.push_back(shapes[l]);
  }
  std::vector<double> value(static_cast<size_t>(score.entries()));
  if (listed.size() < count) {
    std::vector<int64_t> numbers(value.size());
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int64_t>(i % count) + 1;
    value =
        distribution_bound(score, lists, metric, spec, Tensor::from(numbers)).to(Dtype::float64).to_vector<double>();
  }
  const Cdfs cdfs = smooth_cdfs(metric, listed, spec.finding, {.kind = Smoothing::by_samples});
  const std::vector<double> s = score.to(Dtype::float64).to_vector<double>();
  for (size_t i = 0; i < value.size(); ++i) {
    const std::optional<size_t> at = place[i % count];
    if (!at) continue;
    value[i] = cdfs[*at] ? std::get<std::shared_ptr<const Distribution>>(*cdfs[*at])->cdf(s[i]) : 0;
  }
  return Tensor::from(value).to(score.device());
}

/// Like `distribution_bound`, but all lists share one distribution, for example that of a metric that a script defines.
Tensor distribution_bound_of(const Tensor& score, const SharedDistribution& distribution, const DistributionSpec& spec,
                             bool minimize) {
  check::floating("score", score);
  const auto count = static_cast<size_t>(score.entries());
  if (spec.how.kind == Smoothing::by_samples) {
    const auto values = std::make_shared<const Distribution>(distribution->listed());
    return by_values(score, std::vector<std::optional<SmoothCdf>>(count, values));
  }
  const ListTables tables =
      tables_on(score.device(), std::vector<std::optional<SmoothCdf>>(count, distribution->table(spec.how)));
  return by_tables(score, tables, spec.form, minimize);
}

}  // namespace

using lua::op;
extern const lua::OpTable distribution_bound_functions{
    lua::OpTable::functions,
    nullptr,
    {
        op<&spec_of>("distribution_spec", "form, method, samples, seed, steepness, amount, beta",
                     "A distribution bound with its options."),
        op<&with_samples_of>(
            "distribution_spec_also", "spec, metric",
            "A copy of the spec that draws samples for this metric, too, if it needs the same rankings."),
        op<&distribution_bound>("distribution_bound", "score, lists, metric, spec, numbers",
                                "F~ of every list's score, or its logarithm or logit. `numbers` of lists give the "
                                "list of each score, in place of nil."),
        op<&distribution_shares>("distribution_shares", "score, lists, metric, spec",
                                 "Not smoothed F of float64 scores of copies of the lists, copy after copy."),
        op<&distribution_bound_of>("distribution_bound_of", "score, distribution, spec, minimize",
                                   "Like `distribution_bound`, with one distribution for all entries."),
    }};

}  // namespace mr
