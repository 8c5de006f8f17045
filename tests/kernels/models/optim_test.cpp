// Optimizer steps are tested entry by entry. A step with a sparse gradient must change only the rows that have a
// gradient.
#include "kernels/models/optim.h"

#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/models/adam.h"

namespace mr {
namespace {

TEST_CASE("GradientView reads sparse gradient rows through their slots", "[kernels]") {
  const std::vector<double> values{10, 20, 30, 40};
  const std::vector<int64_t> slot{-1, 1, 0};
  const GradientView<double> sparse{values.data(), slot.data(), 2};
  const std::vector<double> expected{0, 0, 30, 40, 10, 20};
  for (int64_t i = 0; i < 6; ++i) CHECK(sparse(i) == expected[i]);
  const GradientView<double> dense{values.data(), nullptr, 2};
  CHECK(dense(3) == 40);
}

TEST_CASE("EntriesOfRows maps entries to the positions of the chosen rows", "[kernels]") {
  const std::vector<int64_t> rows{2, 0};
  const EntriesOfRows some{rows.data(), 3};
  const std::vector<int64_t> expected{6, 7, 8, 0, 1, 2};
  for (int64_t i = 0; i < 6; ++i) CHECK(some(i) == expected[i]);
  CHECK(EntriesOfRows{nullptr, 3}(5) == 5);
}

TEST_CASE("SgdStep and AdamStep update the chosen rows and no others", "[kernels]") {
  std::vector<double> parameter{1, 1, 1, 1}, mean(4), square(4);
  const std::vector<double> values{4, -4};
  const std::vector<int64_t> slot{-1, 0}, rows{1};
  const GradientView<double> gradient{values.data(), slot.data(), 2};
  const SgdStep<double> sgd{parameter.data(), nullptr, gradient, {rows.data(), 2}, 0.25, 0, 0};
  for (int64_t i = 0; i < 2; ++i) sgd(i);
  CHECK(parameter == std::vector<double>{1, 1, 0, 2});
  // The first Adam step moves each entry by the learning rate in the direction of -sign(gradient), up to epsilon.
  const AdamStep<double> adam{parameter.data(),
                              mean.data(),
                              square.data(),
                              gradient,
                              {rows.data(), 2},
                              0.1 / (1 - 0.9),
                              1 / (1 - 0.999),
                              0.9,
                              0.999,
                              1e-8,
                              0};
  for (int64_t i = 0; i < 2; ++i) adam(i);
  CHECK(parameter[0] == 1);
  CHECK(parameter[1] == 1);
  CHECK(parameter[2] == Approx(-0.1).epsilon(1e-6));
  CHECK(parameter[3] == Approx(2.1).epsilon(1e-6));
  CHECK(mean[2] == Approx(0.4));
  CHECK(square[3] == Approx(0.016));
  CHECK(mean[0] == 0);
}

}  // namespace
}  // namespace mr
