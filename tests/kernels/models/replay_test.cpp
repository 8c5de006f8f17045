// Tests of replayed updates: the optimizer steps with a zero gradient that a row has missed. The loops of every
// instruction set give the bits of the plain kernels, and these give the bits of ordinary steps with a gradient of
// zero.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/models/deferred/replay_cpu.h"
#include "kernels/models/rows.h"
#include "tests/support/random_entries.h"
#include "tests/support/simd_forms.h"

using namespace mr;
using test::random;

namespace {

/// Test input: a table of six rows, three of which have missed 0, 3 and 7 optimizer steps.
template <class Real>
struct Missed {
  int64_t width;
  bool has_mean;
  StepKind kind;
  Real decay;
  std::vector<Real> parameter, mean, square;
  std::vector<int64_t> rows{4, 0, 3};
  std::vector<int32_t> from{7, 4, 0}, since{4, 9, 9, 0, 7, 9};
  std::vector<MissedStep<Real>> steps;

  Missed(int64_t columns, StepKind how, bool mean_too, Real decays)
      : width(columns),
        has_mean(mean_too),
        kind(how),
        decay(decays),
        parameter(random<Real>(6 * columns, "parameter")),
        mean(random<Real>(6 * columns, "mean")),
        square(random<Real>(6 * columns, "square")) {
    for (Real& each : square) each *= each;
    for (int k = 0; k < 7; ++k)
      steps.push_back({Real(0.1) / Real(k + 1), Real(1) + Real(k), kind == StepKind::adam ? Real(0.99) : Real(1)});
  }
  ReplayRows<Real> work() {
    return {.parameter = parameter.data(),
            .mean = has_mean ? mean.data() : nullptr,
            .square = square.data(),
            .rows = rows.data(),
            .from = from.data(),
            .steps = steps.data(),
            .since = since.data(),
            .now = 7,
            .width = width,
            .kind = kind,
            .beta1 = Real(0.9),
            .keep = Real(0.99),
            .add = Real(1) - Real(0.99),
            .epsilon = Real(1e-6),
            .decay = decay};
  }
  std::vector<std::vector<Real>> all() const { return {parameter, mean, square}; }
};

}  // namespace

TEMPLATE_TEST_CASE("ReplayLoops and kernels take missed steps with the bits of the plain kernels", "[kernels]", float,
                   double) {
  using Real = TestType;
  for (const int64_t width : {1, 3, 7, 8, 16, 31, 32, 33, 64, 97}) {
    for (const StepKind kind : {StepKind::root, StepKind::adam}) {
      for (const bool has_mean : {kind == StepKind::adam, true}) {
        for (const Real decay : {Real(0), Real(0.1)}) {
          const auto missed = [&] { return Missed<Real>(width, kind, has_mean, decay); };
          Missed<Real> plain = missed();
          for (int64_t i = 0; i < 3 * width; ++i) plain.work()(i);
          CHECK(plain.since == std::vector<int32_t>{7, 9, 9, 7, 7, 9});
          for (const auto& [name, loops] : simd_forms<cpu::ReplayLoops<Real>>()) {
            INFO(name << ", width " << width << ", kind " << static_cast<int>(kind));
            Missed<Real> a = missed();
            loops.replay(a.work(), 0, 1);
            loops.replay(a.work(), 1, 3);
            CHECK(a.all() == plain.all());
            CHECK(a.since == plain.since);
          }
          Missed<Real> a = missed();
          cpu_table<DeferredKernels<Real>>().replay_rows(3 * width, a.work());
          CHECK(a.all() == plain.all());
        }
      }
    }
  }
}

TEMPLATE_TEST_CASE("SgdStep and RootStep by rows have the bits of the plain kernels", "[kernels]", float, double) {
  using Real = TestType;
  const std::vector<int64_t> rows{4, 0, 3}, slot{1, -1, -1, -1, 0, -1};
  for (const int64_t width : {1, 7, 32, 33}) {
    const auto gradient = random<Real>(2 * width, "gradient");
    for (const bool velocity : {false, true}) {
      Missed<Real> plain(width, StepKind::root, velocity, Real(0.1)), fast = plain;
      const auto work = [&](Missed<Real>& at) -> RootStep<Real> {
        return {at.parameter.data(),
                at.square.data(),
                velocity ? at.mean.data() : nullptr,
                {gradient.data(), slot.data(), width},
                {rows.data(), width},
                Real(0.1),
                Real(0.9),
                Real(0.1),
                Real(0.5),
                Real(1e-6),
                Real(0.01)};
      };
      for (int64_t i = 0; i < 3 * width; ++i) work(plain)(i);
      cpu_table<TrainingKernels<Real>>().root_step(3 * width, work(fast));
      CHECK(fast.all() == plain.all());
    }
  }
}
