// Compares the gradients of items (sums over the items' rows, in the order of the batch) with plain sums, for every
// instruction set and number of threads.
#include "kernels/models/item_gradients.h"

#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/core/threads.h"
#include "tests/support/random_entries.h"
#include "tests/support/simd_forms.h"

using namespace mr;
using test::random;

namespace {

struct Batch {
  std::vector<int64_t> offsets{0}, user_of, item_of;
  Ragged lists() const { return {offsets.data(), static_cast<int64_t>(user_of.size())}; }
  int64_t rows() const { return offsets.back(); }
};

/// Test input: lists of several lengths, one of them empty and one longer than the number of rows that the kernel
/// handles at a time. Items occur several times, also within a list.
Batch batch_of(int64_t users, int64_t items) {
  Batch batch;
  const std::vector<double> draws = random<double>(1000, "items", 0, 1);
  for (const int64_t size : {3, 0, 150, 64, 1, 90}) {
    batch.user_of.push_back(1 + (5 * static_cast<int64_t>(batch.user_of.size()) + 2) % users);
    for (int64_t i = 0; i < size; ++i)
      batch.item_of.push_back(1 + static_cast<int64_t>(draws[batch.item_of.size()] * static_cast<double>(items)));
    batch.offsets.push_back(static_cast<int64_t>(batch.item_of.size()));
  }
  return batch;
}

/// Returns for each item the sum of the gradients of its rows, added in the order of the rows.
template <class Real>
std::map<int64_t, std::vector<Real>> by_hand(const Batch& batch, const std::vector<Real>& users, int64_t width,
                                             const std::vector<Real>& upstream) {
  std::map<int64_t, std::vector<Real>> sums;
  for (size_t list = 0; list < batch.user_of.size(); ++list) {
    for (int64_t r = batch.offsets[list]; r < batch.offsets[list + 1]; ++r) {
      auto& sum = sums.try_emplace(batch.item_of[r], width, Real(0)).first->second;
      for (int64_t c = 0; c < width; ++c) sum[c] += upstream[r] * users[(batch.user_of[list] - 1) * width + c];
    }
  }
  return sums;
}

}  // namespace

TEMPLATE_TEST_CASE("ItemGradients equal the sums of their rows with every instruction set", "[kernels]", float,
                   double) {
  using Real = TestType;
  constexpr int64_t n_users = 7;
  for (const int64_t items : {1, 63, 64, 65, 200, 4095, 4096, 4097, 100000}) {
    const Batch batch = batch_of(n_users, items);
    const cpu::ItemSet occur({batch.item_of.data()}, batch.rows(), items);
    std::vector<int64_t> numbers(occur.count());
    occur.write(numbers.data());
    for (const int64_t width : {1, 5, 16, 32, 37}) {
      const auto users = random<Real>(n_users * width, "users"), upstream = random<Real>(batch.rows(), "upstream");
      const auto expected = by_hand(batch, users, width, upstream);
      std::vector<int64_t> expected_numbers;
      std::vector<Real> expected_sums;
      for (const auto& [item, sum] : expected) {
        expected_numbers.push_back(item);
        expected_sums.insert(expected_sums.end(), sum.begin(), sum.end());
      }
      REQUIRE(numbers == expected_numbers);
      const auto made = [&](const auto& run) {
        std::vector<Real> out(expected_sums.size(), 5);
        run(cpu::ItemGradients<Real>{.users = {users.data(), n_users * width},
                                     .user_of = {batch.user_of.data()},
                                     .item_of = {batch.item_of.data()},
                                     .lists = batch.lists(),
                                     .width = width,
                                     .bits = occur.bits(),
                                     .before = occur.before(),
                                     .upstream = {upstream.data(), batch.rows()},
                                     .out = {out.data(), static_cast<int64_t>(out.size())}});
        return out;
      };
      for (const auto& [name, loops] : simd_forms<cpu::ItemGradientLoops<Real>>()) {
        INFO(name << ", width " << width << ", " << items << " items");
        CHECK(made([&, loops = loops](const auto& work) {
                loops.add(work, 0, occur.count() / 3);
                loops.add(work, occur.count() / 3, occur.count());
              }) == expected_sums);
      }
    }
  }
}

TEST_CASE("ItemGradients have the same bits for every number of threads", "[kernels]") {
  constexpr int64_t users = 7, items = 200, width = 256;
  const Batch batch = batch_of(users, items);
  const cpu::ItemSet occur({batch.item_of.data()}, batch.rows(), items);
  const auto factors = random<float>(users * width, "users"), upstream = random<float>(batch.rows(), "upstream");
  const int before = cpu::threads();
  std::vector<float> first;
  for (const int threads : {1, 2, 5}) {
    cpu::set_threads(threads);
    std::vector<float> out(occur.count() * width, 5);
    cpu::item_gradients<float>({.users = {factors.data(), users * width},
                                .user_of = {batch.user_of.data()},
                                .item_of = {batch.item_of.data()},
                                .lists = batch.lists(),
                                .width = width,
                                .bits = occur.bits(),
                                .before = occur.before(),
                                .upstream = {upstream.data(), batch.rows()},
                                .out = {out.data(), static_cast<int64_t>(out.size())}});
    if (first.empty()) first = out;
    CHECK(out == first);
  }
  cpu::set_threads(before);
}
