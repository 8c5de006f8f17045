// Tests of tensor handles that share memory: which operations share it, which copy it, and how bytes are counted.
#include "runtime/tensor/tensor.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <unistd.h>
#include <vector>

#include "tests/support/devices.h"

namespace mr {
namespace {

TEST_CASE("Tensor views and slices share bytes, clones and conversions do not", "[tensor]") {
  const Device device = GENERATE(from_range(test::devices()));
  const Tensor x = Tensor::from(std::vector<double>{1, 2, 3, 4, 5, 6}, device).viewed({3, 2});
  const Tensor view = x.viewed({2, 3}), part = x.slice(1, 2), copy = x.clone(), same = x.to(Dtype::float64);
  const Tensor last = part.slice(1, 1);
  CHECK(view.same_bytes(x));
  CHECK(part.same_bytes(x));
  CHECK(same.same_bytes(x));
  CHECK_FALSE(copy.same_bytes(x));
  CHECK_FALSE(x.to(Dtype::float32).same_bytes(x));
  CHECK(part.to_vector<double>() == std::vector<double>{3, 4, 5, 6});
  CHECK(last.shape() == Shape{1, 2});
  last.assign(Tensor::from(std::vector<double>{50, 60}, device));
  CHECK(x.to_vector<double>() == std::vector<double>{1, 2, 3, 4, 50, 60});
  CHECK(view.to_vector<double>() == x.to_vector<double>());
  CHECK(copy.to_vector<double>() == std::vector<double>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("Tensor::to converts between types by value", "[tensor]") {
  const Device device = GENERATE(from_range(test::devices()));
  const Tensor x = Tensor::from(std::vector<double>{-2.7, 0, 16777217}, device);
  CHECK(x.to(Dtype::int64).to_vector<int64_t>() == std::vector<int64_t>{-2, 0, 16777217});
  CHECK(x.to(Dtype::float32).to_vector<float>() == std::vector<float>{-2.7F, 0, 16777216});
  CHECK(x.to(Dtype::int64).to(Dtype::float64).to_vector<double>() == std::vector<double>{-2, 0, 16777217});
}

TEST_CASE("Tensor entries can be read only as the tensor's own type", "[tensor]") {
  const Device device = GENERATE(from_range(test::devices()));
  const auto reads = [&](const Tensor& x, auto like) {
    using T = decltype(like);
    if (x.dtype() == dtype_of<T>) {
      CHECK(x.to_vector<T>() == std::vector<T>(3, 1));
      CHECK((x.span<T>().size == 3 && x.span<const T>().size == 3));
      return;
    }
    const std::string text = "a tensor of shape {3} is " + std::string(name_of(x.dtype())) + ", expected " +
                             std::string(name_of(dtype_of<T>));
    CHECK_THROWS_WITH(x.to_vector<T>(), text);
    CHECK_THROWS_WITH(x.span<T>(), text);
    CHECK_THROWS_WITH(x.span<const T>(), text);
  };
  for (const Dtype type : {Dtype::float32, Dtype::float64, Dtype::int64}) {
    const Tensor x = Tensor::full({3}, 1, type, device);
    reads(x, float());
    reads(x, double());
    reads(x, int64_t());
  }
}

TEST_CASE("Tensor::full and Tensor::zeros fill sizes around vector and warp widths", "[tensor]") {
  const Device device = GENERATE(from_range(test::devices()));
  const auto n = GENERATE(as<int64_t>(), 0, 1, 31, 32, 33, 127, 128, 129, 1000);
  for (const Dtype type : {Dtype::float32, Dtype::float64, Dtype::int64}) {
    CHECK(Tensor::full({n}, 7, type, device).to(Dtype::float64).to_vector<double>() == std::vector<double>(n, 7));
    CHECK(Tensor::zeros({n}, type, device).to(Dtype::float64).to_vector<double>() == std::vector<double>(n, 0));
  }
}

TEST_CASE("Storage::held counts the bytes of live tensors on every device", "[tensor]") {
  const Device device = GENERATE(from_range(test::devices()));
  const int64_t before = Storage::held(device);
  {
    const Tensor x = Tensor::empty({1000}, Dtype::float64, device);
    CHECK(Storage::held(device) == before + 8000);
    const Tensor part = Tensor(x).slice(10, 1);
    CHECK(Storage::held(device) == before + 8000);
    const Tensor nothing = Tensor::empty({0, 5}, Dtype::float64, device);
    CHECK(Storage::held(device) == before + 8000);
    CHECK_THROWS_AS(Tensor::empty({int64_t{1} << 45}, Dtype::float64, device), OutOfMemory);
    CHECK(Storage::held(device) == before + 8000);
  }
  CHECK(Storage::held(device) == before);
}

TEST_CASE("Storage reuses freed memory, never for two tensors at once, and keeps at most 64 MiB", "[tensor]") {
  // numbers of entries around those at which a block's size is rounded up to the next size
  for (const int64_t n : {1, 63, 64, 65, 255, 256, 257, 320, 321, 511, 512, 513, 4095, 4097, 1 << 20, (1 << 20) + 1}) {
    for (int round = 0; round < 3; ++round) {
      std::vector<Tensor> held;
      for (int i = 0; i < 5; ++i) {
        held.push_back(Tensor::empty({n}, Dtype::float64));
        std::fill_n(held.back().span<double>().data, n, i);
      }
      for (int i = 0; i < 5; ++i) CHECK(held[i].to_vector<double>() == std::vector<double>(n, i));
    }
  }
  {
    std::vector<Tensor> held;
    for (int i = 0; i < 256; ++i) held.push_back(Tensor::full({1 << 17}, i, Dtype::float64));
  }
  CHECK(Storage::kept(Device::cpu) <= int64_t{64} << 20);
  const int64_t kept = Storage::kept(Device::cpu);
  const Tensor again = Tensor::empty({1 << 17}, Dtype::float64);
  CHECK(Storage::kept(Device::cpu) == std::max<int64_t>(0, kept - (1 << 20)));
}

TEST_CASE("Tensor memory is aligned to 64 bytes", "[tensor]") {
  for (const int64_t n : {1, 3, 17, 1000}) {
    CHECK(reinterpret_cast<uintptr_t>(Tensor::empty({n}, Dtype::float32).raw()) % 64 == 0);
  }
}

TEST_CASE("Tensor::text prints int64 entries exactly", "[tensor]") {
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  const Tensor x = Tensor::from(std::vector<int64_t>{most, -most - 1, (int64_t{1} << 53) + 1});
  CHECK(x.text() == "{9223372036854775807, -9223372036854775808, 9007199254740993}  mr.Tensor {3} int64");
}

TEST_CASE("Tensor::item reads a tensor of one entry and refuses others", "[tensor]") {
  CHECK(Tensor::full({1, 1}, 2.5, Dtype::float32).item() == 2.5);
  CHECK(Tensor::full({}, 7, Dtype::int64).item() == 7);
  CHECK_THROWS_WITH(Tensor::full({2}, 1, Dtype::float32).item(), Catch::Contains("{2}"));
  CHECK_THROWS(Tensor::full({0}, 1, Dtype::float32).item());
}

}  // namespace
}  // namespace mr
