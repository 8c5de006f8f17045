// Tests of deferred optimizer updates, which are applied when a row is next used. The rational approximation of many
// steps is compared with sums in long double, and the loops of every instruction set with the plain kernels, bit for
// bit.
#include <cmath>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/models/deferred/deferred_cpu.h"
#include "kernels/models/rows.h"
#include "tests/support/random_entries.h"
#include "tests/support/simd_forms.h"

using namespace mr;
using test::random;

namespace {

/// The terms of k deferred Adam steps after step t0. A step changes an entry by weight / (sqrt(second moment) + place).
/// `sums` has what the rational approximation needs.
struct Steps {
  std::vector<double> weights, places;
  GlideSums sums;

  Steps(double beta1, double beta2, int t0, int k) {
    sums.centre = std::sqrt(std::pow(beta2, -10) - std::pow(beta2, t0));
    for (int j = 1; j <= k; ++j) {
      const double left1 = 1 - std::pow(beta1, t0 + j), left2 = 1 - std::pow(beta2, t0 + j);
      weights.push_back(std::pow(beta1 / std::sqrt(beta2), j) * std::sqrt(left2) / left1 * (j % 7 < 3 ? 0.3 : 1));
      places.push_back(std::sqrt(left2) * std::pow(beta2, -0.5 * j));
      sums.add(weights.back(), places.back());
    }
  }

  /// The exact update: the sum over all deferred steps of weight / (1 + d u), where d = place / centre - 1.
  double at(double u) const {
    long double total = 0;
    for (size_t j = 0; j < weights.size(); ++j)
      total += weights[j] / (1 + (static_cast<long double>(places[j]) / sums.centre - 1) * u);
    return static_cast<double>(total);
  }
};

double value(const GlideFit& fit, double u) {
  return (fit.top[0] + u * (fit.top[1] + u * fit.top[2])) /
         (1 + u * (fit.bottom[0] + u * (fit.bottom[1] + u * fit.bottom[2])));
}

}  // namespace

TEST_CASE("GlideFit::fit sums deferred Adam steps within the tolerance or returns false", "[kernels]") {
  int64_t fits = 0, all = 0;
  for (const auto& [beta1, beta2] : {std::pair(0.9, 0.999), std::pair(0.5, 0.9), std::pair(0.98, 0.999)}) {
    for (const int t0 : {1, 3, 10, 30, 100, 300, 1000, 10000}) {
      for (const int k : {1, 2, 3, 4, 5, 20, 100, 300}) {
        for (const double tolerance : {1e-4, 2e-7, 1e-12}) {
          const Steps steps(beta1, beta2, t0, k);
          CAPTURE(beta1, beta2, t0, k, tolerance);
          GlideFit fit;
          ++all;
          if (!fit.fit(steps.sums, tolerance)) continue;
          ++fits;
          double worst = 0;
          for (int i = 0; i <= 100; ++i)
            worst = std::max(worst, std::fabs(value(fit, i / 100.) / steps.at(i / 100.) - 1));
          CHECK(worst <= tolerance * 1.01 + 1e-14);
        }
      }
    }
  }
  CHECK(fits > all / 2);
  GlideFit late;
  CHECK(late.fit(Steps(0.9, 0.999, 1000, 300).sums, 2e-7));
  CHECK(!late.fit(Steps(0.9, 0.999, 1, 300).sums, 2e-7));
}

namespace {

/// An optimizer whose updates of rows without a gradient can be deferred.
struct Rule {
  const char* name;
  StepKind kind;
  bool has_mean;
  double decay, factor;  // decay: weight decay of SGD; factor: what AdamW's weight decay multiplies the parameter by
};
const Rule rules[] = {
    {"Adam", StepKind::adam, true, 0, 1},
    {"AdamW", StepKind::adam, true, 0, 0.75},
    {"SGD, momentum", StepKind::sgd, true, 0, 1},
    {"SGD, decay", StepKind::sgd, false, 0.1, 1},
    {"SGD, both", StepKind::sgd, true, 0.1, 1},
    {"RMSProp", StepKind::root, false, 0, 1},
    {"RMSProp, momentum", StepKind::root, true, 0, 1},
};

/// A table of six rows, four of which have a pending state. One row's deferred updates are applied by a rational
/// approximation, one's step by step, one's by an approximation of low degree, and one row has no deferred updates.
template <class Real>
struct Table {
  int64_t width;
  Rule rule;
  std::vector<Real> stored, shown, gradient, weights{Real(0.5), Real(0.25)}, places{Real(1e-3), Real(2e-3)};
  std::vector<int64_t> rows{4, 0, 2, 5};
  std::vector<int32_t> glide{0, 1, -1, 2};
  std::vector<Glide<Real>> glides{
      {Real(0.01), {Real(0.9), Real(0.4), Real(0.1)}, {Real(0.3), Real(0.2), Real(0.05)}, Real(0.8), Real(0.99), 0, 0},
      {Real(0.01), {Real(0.7), 0, 0}, {}, Real(0.7), Real(0.98), 0, 2},
      {Real(0.01), {Real(0.9), Real(0.4), 0}, {Real(0.3), Real(0.2), 0}, Real(0.8), Real(0.99), 0, 0, true}};

  Table(int64_t columns, const Rule& how)
      : width(columns),
        rule(how),
        stored(random<Real>(6 * columns * 3, "stored")),
        shown(static_cast<size_t>(6 * columns)),
        gradient(random<Real>(4 * columns, "gradient")) {
    stored.resize(static_cast<size_t>(6 * columns * at().tables()));
    for (const int64_t row : rows) {
      Real* const squares_of = at().row(row).square;
      for (int64_t c = 0; squares_of != nullptr && c < width; ++c) squares_of[c] *= c == 0 ? 0 : squares_of[c];
    }
    for (Glide<Real>& each : glides) {
      each.kept = static_cast<Real>(how.factor - how.decay);
      each.pull = static_cast<Real>(how.decay);
    }
  }
  DeferredRows<Real> at() {
    return {.stored = stored.data(),
            .kind = rule.kind,
            .has_mean = rule.has_mean,
            .has_square = rule.kind != StepKind::sgd,
            .rows = rows.data(),
            .glide = glide.data(),
            .glides = glides.data(),
            .weights = weights.data(),
            .places = places.data(),
            .width = width};
  }
  SettleRows<Real> settle() { return {at(), shown.data()}; }
  StepRows<Real> step() {
    return {at(),
            gradient.data(),
            shown.data(),
            Real(0.1),
            Real(1.5),
            Real(0.9),
            Real(0.999),
            Real(1e-8),
            Real(0.001),
            static_cast<Real>(rule.decay),
            static_cast<Real>(rule.factor)};
  }
  std::vector<std::vector<Real>> all() const { return {stored, shown}; }
};

}  // namespace

TEMPLATE_TEST_CASE("DeferredLoops and kernels settle and step deferred rows with the bits of the plain kernels",
                   "[kernels]", float, double) {
  using Real = TestType;
  for (const int64_t width : {1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 64, 97}) {
    for (const Rule& rule : rules) {
      Table<Real> settled(width, rule), moved(width, rule);
      for (int64_t i = 0; i < 4 * width; ++i) {
        settled.settle()(i);
        moved.step()(i);
      }
      for (const auto& [name, loops] : simd_forms<cpu::DeferredLoops<Real>>()) {
        INFO(name << ", width " << width << ", " << rule.name);
        Table<Real> a(width, rule), b(width, rule);
        loops.settle(a.settle(), 0, 4);
        loops.step(b.step(), 0, 1);
        loops.step(b.step(), 1, 4);
        CHECK(a.all() == settled.all());
        CHECK(b.all() == moved.all());
      }
      Table<Real> a(width, rule), b(width, rule);
      cpu_table<DeferredKernels<Real>>().settle_rows(4 * width, a.settle());
      cpu_table<DeferredKernels<Real>>().step_rows(4 * width, b.step());
      CHECK(a.all() == settled.all());
      CHECK(b.all() == moved.all());
    }
  }
}

TEMPLATE_TEST_CASE("stepping deferred rows gives the same bits whether or not they were settled before", "[kernels]",
                   float, double) {
  using Real = TestType;
  for (const int64_t width : {1, 7, 32}) {
    for (const Rule& rule : rules) {
      Table<Real> moved(width, rule);
      for (int64_t i = 0; i < 4 * width; ++i) moved.step()(i);
      const auto moved_after = [&](const auto& step) {
        Table<Real> table(width, rule);
        for (int64_t i = 0; i < 4 * width; ++i) table.settle()(i);
        for (int32_t& glide : table.glide) glide = glide < 0 ? glide : DeferredRows<Real>::shown_glide(glide);
        step(table.step());
        return table.all();
      };
      CHECK(moved_after([&](const StepRows<Real>& work) {
              for (int64_t i = 0; i < 4 * width; ++i) work(i);
            }) == moved.all());
      for (const auto& [name, loops] : simd_forms<cpu::DeferredLoops<Real>>()) {
        INFO(name << ", width " << width << ", " << rule.name);
        CHECK(moved_after([loops = loops](const StepRows<Real>& work) { loops.step(work, 0, 4); }) == moved.all());
      }
    }
  }
}

TEMPLATE_TEST_CASE("deferred rows lose as much as the skipped Adam steps would have taken", "[kernels]", float,
                   double) {
  using Real = TestType;
  const int count = GENERATE(300, 8);
  const bool low = GENERATE(false, true);
  const Steps steps(0.9, 0.999, 500, count);
  GlideFit fit;
  REQUIRE(fit.fit(steps.sums, sizeof(Real) == 4 ? 2e-7 : 1e-9));
  if (count == 8) REQUIRE(fit.bottom[2] == 0);
  if (low && fit.bottom[2] != 0) return;
  for (const double epsilon : {1e-8, 1e-3}) {
    Glide<Real> glide{};
    glide.low = low;
    glide.reach = static_cast<Real>(epsilon * steps.sums.centre);
    for (int k = 0; k < 3; ++k) {
      glide.top[k] = static_cast<Real>(fit.top[k]);
      glide.bottom[k] = static_cast<Real>(fit.bottom[k]);
    }
    DeferredRows<Real> at{};
    at.kind = StepKind::adam;
    for (const double root : {0., 1e-12, 1e-9, 1e-8, 1e-6, 1e-4, 1e-2, 1., 100.}) {
      const auto square = static_cast<Real>(root * root);
      long double expected = 0;
      for (size_t j = 0; j < steps.weights.size(); ++j)
        expected += steps.weights[j] / (std::sqrt(static_cast<long double>(square)) + epsilon * steps.places[j]);
      CAPTURE(epsilon, root);
      CHECK(double{at.lost(glide, Real(1e-5), square)} ==
            Approx(static_cast<double>(1e-5L * expected)).epsilon(sizeof(Real) == 4 ? 2e-6 : 2e-9));
    }
  }
}
