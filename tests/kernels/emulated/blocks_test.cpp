// Tests of the emulated GPU blocks. Also compares the lane operations of kernels/device/launch.cuh, run in emulated
// blocks, with the simpler imitation in tests/support/emulated_group.h.
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/core/view.h"
#include "kernels/device/launch.cuh"
#include "tests/support/emulated_group.h"
#include "tests/support/on_device.h"

namespace mr::cuda {
namespace {

using test::OnDevice;

/// Test kernel: each lane gets the value of the lane `by` positions further on in its block, through shared memory.
__global__ void rotate(int64_t by, Span<int64_t> out) {
  auto* const shared = shared_memory<int64_t>();
  shared[threadIdx.x] = 1000 * blockIdx.x + threadIdx.x;
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = shared[(threadIdx.x + by) % blockDim.x];
}

__global__ void rotate_without_barrier(int64_t by, Span<int64_t> out) {
  __shared__ int64_t shared[128];
  shared[threadIdx.x] = 0;
  __syncthreads();
  shared[threadIdx.x] = threadIdx.x + 1;
  out[threadIdx.x] = shared[(threadIdx.x + by) % blockDim.x];
}

/// Test kernel: four groups of 8 lanes exchange values and vote independently of each other, at different times.
__global__ void add_within_eights(Span<int64_t> out) {
  int64_t value = threadIdx.x;
  const unsigned mine = 0xFFU << (threadIdx.x & 24U);
  if ((threadIdx.x & 8U) == 0) value += 100;
  for (int step = 4; step > 0; step /= 2) value += __shfl_xor_sync(mine, value, step);
  __syncwarp();
  const bool vote = threadIdx.x % 3 == 0;
  out[threadIdx.x] = value + 1000 * __popc(__ballot_sync(mine, vote));
}

enum class Mistake { half_barrier, lane_leaves, two_masks, overrun, stranger };

__global__ void make_mistake(Span<int64_t> out, Mistake mistake) {
  const bool odd = threadIdx.x % 2 == 1;
  if (mistake == Mistake::half_barrier && odd) __syncthreads();
  if (mistake == Mistake::lane_leaves && threadIdx.x != 5) __syncwarp();
  if (mistake == Mistake::two_masks) __syncwarp(odd ? all_lanes : 0x55555555U);
  if (mistake == Mistake::overrun) shared_memory<char>()[100 + threadIdx.x] = 1;
  if (mistake == Mistake::stranger) __shfl_sync(0xFFU << (threadIdx.x & 24U), 1, 0);
  out[threadIdx.x] = 1;
}

/// Test kernel: the sum and the maximum of the values of one list.
struct SumAndMax {
  Span<const double> values;
  Span<double> sums, largest;
  Ragged lists;

  template <class Group>
  void operator()(const Group& group, int64_t list) const {
    const double* const x = values.data + lists.begin(list);
    const double sum = group.sum(lists.size(list), [&](int64_t i) { return x[i]; });
    const double most = group.max(lists.size(list), -7e9, [&](int64_t i) { return x[i]; });
    group.each(1, [&](int64_t) {
      sums[list] = sum;
      largest[list] = most;
    });
  }
};

TEST_CASE("emulated lanes share memory in every lane order") {
  const OnDevice<int64_t> out(3 * 128);
  for (int launches = 0; launches < 2; ++launches) {
    launch(&rotate, 3, 128, 128 * sizeof(int64_t), 5, out.span());
    const auto found = out.values();
    for (int64_t i = 0; i < out.size(); ++i) REQUIRE(found[i] == 1000 * (i / 128) + (i % 128 + 5) % 128);
  }
}

TEST_CASE("a missing barrier changes the result between the two lane orders") {
  const OnDevice<int64_t> out(128);
  launch(&rotate_without_barrier, 1, 128, 0, 1, out.span());
  const auto one = out.values();
  launch(&rotate_without_barrier, 1, 128, 0, 1, out.span());
  REQUIRE(one != out.values());
}

TEST_CASE("groups of eight emulated lanes exchange values and votes") {
  const OnDevice<int64_t> out(32);
  for (int launches = 0; launches < 2; ++launches) {
    launch(&add_within_eights, 1, 32, 0, out.span());
    const auto found = out.values();
    for (int64_t i = 0; i < 32; ++i) {
      const int64_t first = i / 8 * 8, sum = 8 * first + 28 + (first % 16 == 0 ? 800 : 0);
      const int64_t votes = first == 8 ? 2 : 3;  // number of lanes that vote yes: their indices are divisible by 3
      REQUIRE(found[i] % 1000 == sum % 1000);
      REQUIRE(found[i] / 1000 - sum / 1000 == (first == 16 ? 2 : first == 8 ? votes + 1 : votes));
    }
  }
}

TEST_CASE("lanes that never meet and overruns of shared memory are errors") {
  const OnDevice<int64_t> out(64);
  const auto text = [&](Mistake mistake) -> std::string {
    try {
      launch(&make_mistake, 1, 64, 100, out.span(), mistake);
    } catch (const std::logic_error& error) {
      return error.what();
    }
    return "";
  };
  using Catch::Contains;
  CHECK_THAT(text(Mistake::half_barrier), Contains("barrier"));
  CHECK_THAT(text(Mistake::lane_leaves), Contains("warp"));
  CHECK_THAT(text(Mistake::two_masks), Contains("warp"));
  CHECK_THAT(text(Mistake::overrun), Contains("shared memory"));
  CHECK_THAT(text(Mistake::stranger), Contains("mask"));
  const std::vector<int64_t> host(4);
  const auto to_host = [&] { launch(&make_mistake, 1, 32, 0, {const_cast<int64_t*>(host.data()), 4}, {}); };
  CHECK_THROWS_WITH(to_host(), Contains("host memory"));
}

TEST_CASE("sums and maxima of emulated blocks and warps equal those of EmulatedGroup") {
  for (const int64_t n : {0, 1, 31, 32, 33, 127, 128, 129, 1000}) {
    for (const int64_t count : {3, 70}) {  // 3 lists: one block per list; 70 lists: one warp per list
      std::vector<double> x;
      std::vector<int64_t> offsets{0};
      for (int64_t list = 0; list < count; ++list) {
        for (int64_t i = 0; i < n + list % 2; ++i)
          x.push_back(std::sin(static_cast<double>(i * i + list)) * std::exp2(i % 13));
        offsets.push_back(static_cast<int64_t>(x.size()));
      }
      const OnDevice<double> values(x), sums(count), largest(count);
      const OnDevice<int64_t> at(offsets);
      Backend::lists(count, SumAndMax{values.span(), sums.span(), largest.span(), {at.data(), count}});
      std::vector<double> expected_sums(static_cast<size_t>(count)), expected_largest(static_cast<size_t>(count));
      const SumAndMax imitated{{x.data(), values.size()},
                               {expected_sums.data(), count},
                               {expected_largest.data(), count},
                               {offsets.data(), count}};
      for (int64_t list = 0; list < count; ++list) imitated(test::EmulatedGroup(128), list);
      CAPTURE(n, count);
      REQUIRE(sums.values() == expected_sums);
      REQUIRE(largest.values() == expected_largest);
    }
  }
}

}  // namespace
}  // namespace mr::cuda
