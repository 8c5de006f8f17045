// Tests of the relaxed permutation matrix (NeuralSort) on the CPU: stored and recomputed entries have the same bits,
// and both agree with a plain implementation.
#include "kernels/losses/neural/neural_matrix.h"

#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/core/rng.h"
#include "kernels/tensor/normal.h"
#include "tests/support/spans.h"

using namespace mr;
using mr::test::slots;
using mr::test::view;

namespace {

/// Returns the loss of one list followed by its derivatives. `run(work)` runs the kernel object `work` in the form to
/// test.
template <class Run>
std::vector<double> results(const std::vector<double>& scores, bool slopes, Run run) {
  const auto n = static_cast<int64_t>(scores.size());
  std::vector<float> grades;
  for (int64_t i = 0; i < n; ++i) grades.push_back(static_cast<float>(i * i % 3));
  const std::vector<int64_t> offsets{0, n};
  const std::vector<double> ideal{3.5};
  std::vector<double> value(1), derivative(slopes ? scores.size() : 0);
  run(NeuralNdcgLoss<double>{.scores = view(scores),
                             .relevance = view(grades),
                             .lists = {offsets.data(), 1},
                             .ideal = view(ideal),
                             .tau = 0.8,
                             .iterations = 6,
                             .tolerance = 1e-9,
                             .spare = {},
                             .value = slots(value),
                             .derivative = slopes ? slots(derivative) : Span<double>{}});
  value.insert(value.end(), derivative.begin(), derivative.end());
  return value;
}

}  // namespace

TEST_CASE("NeuralNDCG with a stored matrix has the bits of a recomputed one and agrees with the plain form") {
  const int64_t n = GENERATE(2, 3, 7, 8, 9, 31, 32, 33, 127, 128, 129, 1024, 1025);
  const double spread = GENERATE(1.0, 40.0);
  const bool slopes = GENERATE(true, false);
  CAPTURE(n, spread, slopes);
  std::vector<double> scores;
  for (int64_t i = 0; i < n; ++i)
    scores.push_back(spread * normal(random_key(3, "neural"), static_cast<uint64_t>(n + i)));
  const auto by_vectors = [&](bool kept) {
    return results(scores, slopes, [&](const NeuralNdcgLoss<double>& work) {
      cpu::NeuralScratch my;
      const int64_t stride = my.resize(NeuralNdcgLoss<double>::slots(work.kept()), n);
      my.rows.resize(static_cast<size_t>((n + 3) * stride));
      my.columns.resize(my.rows.size());
      const cpu::VectorMatrix matrix(kept ? my.rows.data() : nullptr, kept ? my.columns.data() : nullptr, stride);
      work.of_list(SerialGroup{}, 0, matrix, my.vectors.data(), stride);
    });
  };
  const std::vector<double> kept = by_vectors(true), anew = by_vectors(false);
  REQUIRE(kept == anew);
  if (n > 200) return;  // skip the comparison for long lists, because the plain form is slow
  const std::vector<double> plain = results(scores, slopes, [&](NeuralNdcgLoss<double> work) {
    std::vector<double> spare(static_cast<size_t>(NeuralNdcgLoss<double>::slots(work.kept()) * n));
    work.spare = slots(spare);
    work(SerialGroup{}, 0);
  });
  double scale = 1;
  for (const double x : plain) scale = std::max(scale, std::fabs(x));
  for (size_t i = 0; i < plain.size(); ++i) REQUIRE(std::fabs(kept[i] - plain[i]) <= 1e-10 * scale);
}
