// Tests that random rankings drawn on the GPU have the same bits as those drawn on the CPU.
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/bounds/rows.h"
#include "kernels/bounds/sample_rankings_cpu.h"
#include "tests/support/on_device.h"

namespace mr {
namespace {

TEST_CASE("sample_rankings on the GPU has the same bits as on the CPU", "[kernels][gpu]") {
  const auto kind = GENERATE(Increment::linear, Increment::average_precision, Increment::first, Increment::graded);
  const int64_t n = GENERATE(1, 2, 3, 31, 32, 33, 200), p = GENERATE(0, 1, 2, 30);
  const double weight = GENERATE(1.0, 7.4);
  if (p > n) return;
  CAPTURE(static_cast<int>(kind), n, p, weight);
  std::vector<double> d;
  for (int64_t r = 0; r < n; ++r) d.push_back(1 / (1 + 0.1 * static_cast<double>(r)));
  RankingSampler sampler{n, p, kind, d.data(), random_key(3, "rankings")};
  if (kind == Increment::graded) {
    sampler.levels = 2;
    sampler.at_least[0] = p / 2;
    sampler.at_least[1] = p;
    sampler.step[0] = 0.7;
    sampler.step[1] = 0.1;
  }
  sampler.weighted = weight != 1;
  sampler.weight[0] = weight;
  sampler.weight[1] = 0.3;
  const int64_t samples = 16 * cpu::sample_lanes;
  std::vector<double> expected(static_cast<size_t>(samples));
  cpu::sample_rankings(sampler, 0, samples, expected.data());
  const test::OnDevice<double> d_there(d), out(samples);
  sampler.d = d_there.data();
  cuda_table<BoundKernels<double>>()->sample_rankings(samples, {sampler, out.span()});
  CHECK(out.values() == expected);
}

}  // namespace
}  // namespace mr
