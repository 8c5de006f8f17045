// Tests of tensors whose numbers other threads compute before they are read.
#include "runtime/tensor/computed_ahead.h"

#include <numeric>
#include <stdexcept>
#include <vector>

#include <catch2/catch.hpp>

#include "runtime/tensor/tensor.h"

using namespace mr;

namespace {

/// Returns a tensor of 0, 1, 2, ..., which is computed ahead; the piece that has `bad` fails.
Tensor counted_ahead(int64_t n, int64_t bad = -1) {
  const Tensor x = Tensor::empty({n}, Dtype::int64);
  int64_t* const out = x.span<int64_t>().data;
  ComputedAhead::start(x.storage(), n, 16, [=](int64_t first, int64_t last) {
    if (first <= bad && bad < last) throw std::runtime_error("bad entry");
    std::iota(out + first, out + last, first);
  });
  return x;
}

std::vector<int64_t> counted(int64_t first, int64_t n) {
  std::vector<int64_t> numbers(static_cast<size_t>(n));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

}  // namespace

TEST_CASE("every reader of a tensor that is computed ahead waits for its numbers") {
  const int64_t n = GENERATE(0, 1, 31, 32, 33, 127, 128, 129, 1000);
  CHECK(counted_ahead(n).to_vector<int64_t>() == counted(0, n));
  CHECK(counted_ahead(n).clone().to_vector<int64_t>() == counted(0, n));
  const int64_t half = n / 2;
  CHECK(counted_ahead(n).slice(half, n - half).to_vector<int64_t>() == counted(half, n - half));
}

TEST_CASE("a writer waits, too, so that its numbers stay") {
  const Tensor x = counted_ahead(1000);
  x.span<int64_t>().data[0] = 7;
  std::vector<int64_t> expected = counted(0, 1000);
  expected[0] = 7;
  CHECK(x.to_vector<int64_t>() == expected);
}

TEST_CASE("tensors that nobody reads are dropped while threads compute them") {
  for (int i = 0; i < 100; ++i) counted_ahead(100000);
  SUCCEED();
}

TEST_CASE("an error is raised by each reader") {
  const Tensor x = counted_ahead(1000, 500);
  CHECK_THROWS_WITH(x.to_vector<int64_t>(), "bad entry");
  CHECK_THROWS_WITH(x.to_vector<int64_t>(), "bad entry");
}
