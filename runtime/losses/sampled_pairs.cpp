// Losses over pairs of a relevant row and a row that is drawn, one value per list.
#include <tuple>

#include "kernels/losses/rows.h"
#include "runtime/autograd/node.h"
#include "runtime/losses/list_loss.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/tensor/device_array.h"

namespace mr {
namespace {

/// How rows are drawn: for every row whose grade is at least `relevant`, `each` rows with a lower grade than `relevant`
/// are drawn. `seed` and `stream` select the sequence of random numbers.
struct Draws {
  double relevant;
  int64_t each;
  int64_t seed;
  std::string stream;
  int64_t rows_before;  // number of rows in earlier parts of the batch, if the batch is computed in parts
};

/// Computes a loss over sampled pairs. kernel(table) returns the loss's kernel from the device's table of kernels.
/// Returns the loss, or with `newton` the loss and its first and second derivatives by each score.
template <bool newton, class Pick, class Sampler>
auto sampled(const char* name, const Tensor& scores, const Lists& lists, const Draws& draws, Pick kernel,
             const Sampler& sampler) {
  check_scores(name, scores, lists);
  check::positive("relevant", draws.relevant);
  if (draws.each < 1) throw ArgumentError("draws", std::to_string(draws.each) + ", expected 1 or more");
  const LossAndSlope made(scores, lists, newton || recording({scores}));
  const Device device = scores.device();
  const ChosenRows& relevant = lists.relevant_rows(static_cast<float>(draws.relevant), device);
  if (relevant.total > std::numeric_limits<int32_t>::max() / draws.each)
    throw ArgumentError("draws", std::to_string(draws.each) + " for each of " + std::to_string(relevant.total) +
                                     " relevant rows are too many, expected fewer draws or smaller batches");
  const Tensor drawn = Tensor::empty({relevant.total * draws.each}, Dtype::int64, device);
  const Tensor slopes = Tensor::empty({relevant.total * draws.each}, Dtype::float64, device);
  const Tensor curvatures = Tensor::empty({newton ? relevant.total * draws.each : 0}, Dtype::float64, device);
  const Tensor curvature = Tensor::empty({newton ? lists.rows() : 0}, scores.dtype(), device);
  with_real(scores.dtype(), [&]<class Real>() {
    kernel(kernels<RowLossKernels<Real>>(device))(
        lists.count(), {.sampler = sampler,
                        .scores = scores.data().span<const Real>(),
                        .lists = lists.view(device),
                        .relevant = relevant.view(),
                        .key = random_key(static_cast<uint64_t>(draws.seed), draws.stream.c_str()),
                        .rows_before = draws.rows_before,
                        .draws = draws.each,
                        .drawn = drawn.span<int64_t>(),
                        .slopes = slopes.span<double>(),
                        .curvatures = curvatures.span<double>(),
                        .value = made.value.span<Real>(),
                        .derivative = made.slopes<Real>(),
                        .curvature = newton ? curvature.span<Real>() : Span<Real>{},
                        .weights = lists.row_weights_view(device)});
  });
  if constexpr (newton)
    return std::tuple(made.value, made.derivative, curvature);
  else
    return recorded(name, scores, lists, made);
}

template <bool newton>
auto bpr(const Tensor& scores, const Lists& lists, double relevant, int64_t draws, int64_t seed,
         const std::string& stream, int64_t rows_before) {
  return sampled<newton>(
      "bpr_loss", scores, lists, {relevant, draws, seed, stream, rows_before},
      [](const auto& table) { return table.bpr; }, UniformSampler{});
}

template <bool newton>
auto lambdafm(const Tensor& scores, const Lists& lists, double relevant, int64_t draws, int64_t candidates, double rho,
              int64_t seed, const std::string& stream, int64_t rows_before) {
  if (candidates < 1 || candidates > RankedSampler::most)
    throw ArgumentError("candidates",
                        std::to_string(candidates) + ", expected 1 to " + std::to_string(RankedSampler::most));
  check::positive("rho", rho);
  return sampled<newton>(
      "lambdafm_loss", scores, lists, {relevant, draws, seed, stream, rows_before},
      [](const auto& table) { return table.lambdafm; }, RankedSampler{candidates, rho});
}

struct Harmonic {
  Device device;
  auto operator<=>(const Harmonic&) const = default;
};

/// Returns 1 + 1/2 + ... + 1/n for n from 0 to the number of rows of the longest list.
const Tensor& harmonic_numbers(const Lists& lists, Device device) {
  return lists.cached<Tensor>(Harmonic{device}, [&] {
    std::vector<double> sums{0};
    for (int64_t n = 1; n <= lists.longest(); ++n) sums.push_back(sums.back() + 1 / static_cast<double>(n));
    return Tensor::from(sums, device);
  });
}

template <bool newton>
auto warp(const Tensor& scores, const Lists& lists, double relevant, int64_t draws, double margin, int64_t trials,
          int64_t seed, const std::string& stream, int64_t rows_before) {
  check::positive("margin", margin);
  constexpr int64_t most = 1'000'000;  // limit of `trials`: Ctrl-C has to wait for all trials of one row
  if (trials < 0 || trials > most)
    throw ArgumentError("trials", std::to_string(trials) + ", expected 0 to " + std::to_string(most));
  return sampled<newton>(
      "warp_loss", scores, lists, {relevant, draws, seed, stream, rows_before},
      [](const auto& table) { return table.warp; },
      WarpSampler{margin, trials, harmonic_numbers(lists, scores.device()).span<const double>()});
}

}  // namespace

extern const lua::OpTable sampled_functions{
    lua::OpTable::functions,
    nullptr,
    {lua::op<&bpr<false>>("bpr_loss", "scores, lists, relevant, draws, seed, stream, rows_before",
                          "BPR's loss per list. All other rows are equally likely to be drawn."),
     lua::op<&bpr<true>>("bpr_derivatives", "scores, lists, relevant, draws, seed, stream, rows_before",
                         "Values of bpr_loss, and its first and second derivatives by each score alone."),
     lua::op<&lambdafm<false>>("lambdafm_loss",
                               "scores, lists, relevant, draws, candidates, rho, seed, stream, rows_before",
                               "BPR's loss per list. Other rows are drawn by their rank among candidates."),
     lua::op<&lambdafm<true>>("lambdafm_derivatives",
                              "scores, lists, relevant, draws, candidates, rho, seed, stream, rows_before",
                              "Values of lambdafm_loss, and its first and second derivatives by each score alone."),
     lua::op<&warp<false>>("warp_loss", "scores, lists, relevant, draws, margin, trials, seed, stream, rows_before",
                           "WARP's loss per list. `trials` = 0 allows as many trials as there are other rows."),
     lua::op<&warp<true>>(
         "warp_derivatives", "scores, lists, relevant, draws, margin, trials, seed, stream, rows_before",
         "Values of warp_loss, and its first and second derivatives by each score alone. The second derivative of a "
         "pair with a loss above 0 is its weight.")}};

}  // namespace mr
