// Compares the training of factor models on the GPU with sums in long double, and tests what the GPU stores for a
// training step and for an epoch.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/device/group_numbers.h"
#include "kernels/device/launch.cuh"
#include "kernels/models/rows.h"
#include "kernels/tensor/elementwise.h"
#include "tests/support/on_device.h"
#include "tests/support/random_entries.h"

namespace mr {
namespace {

using test::OnDevice;
using test::random;

template <class T>
Span<const T> here(const std::vector<T>& v) {
  return {v.data(), static_cast<int64_t>(v.size())};
}

/// Compares entries with a tolerance for the rounding errors of a sum of n products, whose factors are at most 1.
template <class Real>
void check_near(const std::vector<Real>& found, const std::vector<Real>& expected, int64_t n) {
  REQUIRE(found.size() == expected.size());
  const double room = 4 * std::sqrt(static_cast<double>(n + 1)) * std::numeric_limits<Real>::epsilon();
  int64_t wrong = 0;
  for (size_t i = 0; i < found.size(); ++i) wrong += std::fabs(double{found[i]} - double{expected[i]}) <= room ? 0 : 1;
  CHECK(wrong == 0);
}

/// Test input: lists of n, 0, 1 and n + 1 rows for 5 users; the rows are drawn from 37 items.
template <class Real>
struct Model {
  int64_t width, rows;
  std::vector<int64_t> offsets, user_of{5, 1, 3, 1}, item_of;
  std::vector<Real> users, items, upstream;

  Model(int64_t n, int64_t columns)
      : width(columns),
        rows(2 * n + 2),
        offsets{0, n, n, n + 1, rows},
        users(random<Real>(5 * columns, "users")),
        items(random<Real>(37 * columns, "items")),
        upstream(random<Real>(rows, "upstream")) {
    for (int64_t r = 0; r < rows; ++r) item_of.push_back(1 + (r * 11) % 37);
  }
};

TEMPLATE_TEST_CASE("factor_scores and factor_user_gradients on the GPU agree with sums in long double",
                   "[kernels][gpu]", float, double) {
  using Real = TestType;
  const int64_t n = GENERATE(0, 1, 31, 32, 33, 127, 128, 129, 1000);
  const int64_t width = GENERATE(1, 3, 4, 31, 32, 33, 64, 100);
  CAPTURE(n, width);
  const Model<Real> m(n, width);
  const OnDevice<int64_t> offsets(m.offsets), user_of(m.user_of), item_of(m.item_of);
  const OnDevice<Real> users(m.users), items(m.items), upstream(m.upstream);
  const auto& table = *cuda_table<TrainingKernels<Real>>();
  const Ragged lists_there{offsets.data(), 4};

  std::vector<Real> scores(static_cast<size_t>(m.rows)), by_users(static_cast<size_t>(4 * width));
  for (int64_t list = 0; list < 4; ++list) {
    std::vector<long double> sums(static_cast<size_t>(width), 0.0L);
    for (int64_t r = m.offsets[list]; r < m.offsets[list + 1]; ++r) {
      long double score = 0;
      for (int64_t c = 0; c < width; ++c) {
        const long double q = m.items[(m.item_of[r] - 1) * width + c];
        score += m.users[(m.user_of[list] - 1) * width + c] * q;
        sums[c] += m.upstream[r] * q;
      }
      scores[r] = static_cast<Real>(score);
    }
    for (int64_t c = 0; c < width; ++c) by_users[list * width + c] = static_cast<Real>(sums[c]);
  }
  const OnDevice<Real> scores_there(m.rows), by_users_there(4 * width);
  table.factor_scores(
      4, {users.span(), items.span(), {user_of.data()}, {item_of.data()}, lists_there, width, scores_there.span()});
  check_near(scores_there.values(), scores, width);
  table.factor_user_gradients(
      4, {items.span(), {item_of.data()}, lists_there, width, upstream.span(), by_users_there.span()});
  check_near(by_users_there.values(), by_users, n);
}

TEMPLATE_TEST_CASE("factor_item_gradients and owners_of_rows on the GPU agree with sums in long double",
                   "[kernels][gpu]", float, double) {
  using Real = TestType;
  const int64_t n = GENERATE(0, 1, 31, 32, 33, 127, 128, 129, 1000);
  const int64_t width = GENERATE(1, 3, 4, 31, 32, 33, 64, 100);
  CAPTURE(n, width);
  const Model<Real> m(n, width);
  const OnDevice<int64_t> offsets(m.offsets), user_of(m.user_of), item_of(m.item_of);
  const OnDevice<int64_t> order(m.rows), starts(38), items(37), found(1), owners(m.rows);
  cuda::group_numbers(m.rows, item_of.data(), 37, {order.data(), starts.data(), items.data(), found.data()});

  std::vector<std::vector<long double>> sums(37, std::vector<long double>(static_cast<size_t>(width), 0.0L));
  std::vector<bool> occurs(37);
  for (int64_t list = 0; list < 4; ++list) {
    for (int64_t r = m.offsets[list]; r < m.offsets[list + 1]; ++r) {
      const int64_t item = m.item_of[r] - 1;
      occurs[item] = true;
      for (int64_t c = 0; c < width; ++c)
        sums[item][c] += static_cast<long double>(m.upstream[r]) * m.users[(m.user_of[list] - 1) * width + c];
    }
  }
  std::vector<int64_t> expected_items;
  std::vector<Real> expected;
  for (int64_t item = 0; item < 37; ++item) {
    if (!occurs[item]) continue;
    expected_items.push_back(item + 1);
    for (const long double sum : sums[item]) expected.push_back(static_cast<Real>(sum));
  }
  const int64_t count = found.values()[0];
  REQUIRE(count == static_cast<int64_t>(expected_items.size()));
  std::vector<int64_t> found_items = items.values();
  found_items.resize(static_cast<size_t>(count));
  CHECK(found_items == expected_items);

  const OnDevice<Real> users(m.users), upstream(m.upstream), out(count * width);
  const auto& table = *cuda_table<TrainingKernels<Real>>();
  table.owners_of_rows(m.rows, {order.span(), user_of.span(), {offsets.data(), 4}, owners.span()});
  table.factor_item_gradients(
      count, {users.span(), {owners.data()}, order.span(), starts.span(), width, upstream.span(), out.span()});
  check_near(out.values(), expected, n);
}

TEST_CASE("group_numbers on the GPU finds the positions of each number, ascending", "[kernels][gpu]") {
  const int64_t n = GENERATE(0, 1, 31, 32, 33, 127, 128, 129, 1000);
  const int64_t most = GENERATE(as<int64_t>(), 1, 2, 37, 5000, INT64_MAX);
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < n; ++i) numbers.push_back(1 + i * i * 31 % std::min<int64_t>(most, 100000));
  std::map<int64_t, std::vector<int64_t>> positions;
  for (int64_t i = 0; i < n; ++i) positions[numbers[i]].push_back(i);
  std::vector<int64_t> expected_numbers, expected_starts{0}, expected_order;
  for (const auto& [number, at] : positions) {
    expected_numbers.push_back(number);
    expected_order.insert(expected_order.end(), at.begin(), at.end());
    expected_starts.push_back(static_cast<int64_t>(expected_order.size()));
  }
  const int64_t room = std::min(n, most);
  const OnDevice<int64_t> there(numbers), order(n), starts(room + 1), each(room), found(1);
  cuda::group_numbers(n, there.data(), most, {order.data(), starts.data(), each.data(), found.data()});
  const auto count = static_cast<size_t>(found.values()[0]);
  REQUIRE(count == positions.size());
  CHECK(order.values() == expected_order);
  const std::vector<int64_t> found_numbers = each.values(), found_starts = starts.values();
  CHECK(std::equal(expected_numbers.begin(), expected_numbers.end(), found_numbers.begin()));
  CHECK(std::equal(expected_starts.begin(), expected_starts.end(), found_starts.begin()));
}

TEMPLATE_TEST_CASE("adam_steps on the GPU updates several parameters in one launch, and adam_clock counts steps",
                   "[kernels][gpu]", float, double) {
  using Real = TestType;
  const std::vector<int64_t> sizes{3, 0, 130, 1};
  const auto& table = *cuda_table<TrainingKernels<Real>>();
  const auto start = random<Real>(134, "parameters"), gradient = random<Real>(134, "gradient");
  const OnDevice<Real> parameter(start), mean(std::vector<Real>(134)), square(std::vector<Real>(134)), g(gradient);
  const OnDevice<int64_t> counts(std::vector<int64_t>{4, 9, 0, 7});
  const OnDevice<AdamRate> rates(4);
  AdamClock<Real> clock{counts.data(), rates.data(), {2, 1, 0}, 0.01, 0.9, 0.999, false};
  AdamSteps<Real> all{};
  std::vector<Real> expected = start;
  int64_t at = 0;
  for (int k = 0; k < 3; ++k) {
    all.step[k] = {parameter.data() + at,
                   mean.data() + at,
                   square.data() + at,
                   {g.data() + at, nullptr, 1},
                   {},
                   0,
                   0,
                   static_cast<Real>(0.9),
                   static_cast<Real>(0.999),
                   static_cast<Real>(1e-8),
                   0,
                   rates.data() + clock.parameter[k]};
    all.first[k + 1] = at += sizes[static_cast<size_t>(k)];
    // One Adam step from zero moments. Parameter k is at step number step_of[k], which sets its bias correction.
    const std::vector<int64_t> step_of{1, 10, 5};
    const auto t = static_cast<double>(step_of[static_cast<size_t>(k)]);
    for (int64_t i = all.first[k]; i < at; ++i) {
      const double m = 0.1 * gradient[i], v = 0.001 * gradient[i] * gradient[i];
      const double step = 0.01 * m / (1 - std::pow(0.9, t)) / (std::sqrt(v / (1 - std::pow(0.999, t))) + 1e-8);
      expected[i] = static_cast<Real>(start[i] - step);
    }
  }
  table.adam_clock(3, clock);
  table.adam_steps(at, all);
  CHECK(counts.values() == std::vector<int64_t>{5, 10, 1, 7});
  check_near(parameter.values(), expected, 60);
}

TEST_CASE("set_slots on the GPU writes the slots of gradient rows and clears them", "[kernels][gpu]") {
  const auto& table = *cuda_table<TrainingKernels<float>>();
  const OnDevice<int64_t> slot(std::vector<int64_t>(6, -1)), rows(std::vector<int64_t>{2, 5, 6}), from0(3);
  table.set_slots(3, {{rows.data()}, slot.data(), from0.data(), false});
  CHECK(slot.values() == std::vector<int64_t>{-1, 0, -1, -1, 1, 2});
  CHECK(from0.values() == std::vector<int64_t>{1, 4, 5});
  table.set_slots(3, {{rows.data()}, slot.data(), nullptr, true});
  CHECK(slot.values() == std::vector<int64_t>(6, -1));
}

TEMPLATE_TEST_CASE("note_nan on the GPU notes the first NaN, and add_loss sums in double", "[kernels][gpu]", float,
                   double) {
  using Real = TestType;
  const int64_t n = GENERATE(1, 33, 1000);
  std::vector<Real> values(static_cast<size_t>(n), Real(0.1));
  const OnDevice<int64_t> found(std::vector<int64_t>{0});
  const OnDevice<double> total(std::vector<double>{1});
  const OnDevice<Real> fine(values);
  cuda::Backend::elements(n, NoteNan<Real>{fine.span(), found.data()});
  CHECK(found.values()[0] == 0);
  values.back() = values[values.size() / 2] = std::numeric_limits<Real>::quiet_NaN();
  const OnDevice<Real> bad(values);
  cuda::Backend::elements(n, NoteNan<Real>{bad.span(), found.data()});
  CHECK(NoteNan<Real>::most - found.values()[0] == n / 2);
  cuda::Backend::elements(1, AddLoss<Real>{fine.span(), 3, total.data()});
  CHECK(total.values()[0] == 1 + 3 * double{Real(0.1)});
}

}  // namespace
}  // namespace mr
