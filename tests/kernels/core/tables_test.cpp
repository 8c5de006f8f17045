// Tests that the table of each family of kernels has a function for every kernel, on the CPU and on the GPU.
#include <cstring>
#include <vector>

#include "kernels/device/gpu.h"
#include "kernels/losses/rows.h"
#include "kernels/models/rows.h"
#include "kernels/ranking/rows.h"
#include "kernels/smooth/rows.h"
#include "kernels/tensor/rows.h"
#include "tests/support/devices.h"

namespace mr {
namespace {

/// Returns all function pointers of a kernel table. A table is a struct that has no members other than function
/// pointers.
template <class Table>
std::vector<void (*)()> rows_of(const Table& table) {
  static_assert(sizeof(Table) % sizeof(void (*)()) == 0);
  std::vector<void (*)()> rows(sizeof(Table) / sizeof(void (*)()));
  std::memcpy(rows.data(), &table, sizeof table);
  return rows;
}

template <class Table>
void check_complete(const Table& table) {
  const auto rows = rows_of(table);
  REQUIRE(rows.size() > 0);
  for (size_t i = 0; i < rows.size(); ++i) {
    CAPTURE(i);
    CHECK(rows[i] != nullptr);
  }
}

TEMPLATE_TEST_CASE("the CPU's kernel table has every kernel", "[kernels][tables]", MoveKernels<float>,
                   MoveKernels<double>, MoveKernels<int64_t>, ArithmeticKernels<float>, ArithmeticKernels<double>,
                   TrainingKernels<float>, TrainingKernels<double>, SmoothKernels<float>, SmoothKernels<double>,
                   MetricKernels<float>, MetricKernels<double>, LambdaKernels<float>, LambdaKernels<double>,
                   NetworkKernels<float>, NetworkKernels<double>, DeferredKernels<float>, DeferredKernels<double>) {
  check_complete(cpu_table<TestType>());
}

TEMPLATE_TEST_CASE("the GPU's kernel table has every kernel", "[kernels][tables]", MoveKernels<float>,
                   MoveKernels<double>, MoveKernels<int64_t>, ArithmeticKernels<float>, ArithmeticKernels<double>,
                   TrainingKernels<float>, TrainingKernels<double>, SmoothKernels<float>, SmoothKernels<double>,
                   MetricKernels<float>, MetricKernels<double>, LambdaKernels<float>, LambdaKernels<double>,
                   NetworkKernels<float>, NetworkKernels<double>, DeferredKernels<float>, DeferredKernels<double>) {
  // the CUDA table exists in every build with CUDA, also on a machine without a GPU
  REQUIRE((cuda_table<TestType>() != nullptr) == cuda::built());
  if (cuda::built()) check_complete(*cuda_table<TestType>());
}

TEST_CASE("gpu() gives a reason if the GPU is not available", "[kernels][tables]") {
  CHECK(cuda::gpu().available() == (cuda::gpu().reason().empty()));
  if (!cuda::built()) CHECK_THROWS_WITH(cuda::gpu().synchronize(), Catch::Contains("CUDA"));
}

TEST_CASE("copies to the GPU and back keep their bytes", "[kernels][gpu]") {
  if (!test::has(Device::cuda)) return;
  // sizes around that of the pieces in which uploads go through pinned memory, and one larger than all pinned memory
  const auto n = GENERATE(as<size_t>(), 1, 255, 256 << 10, (256 << 10) + 1, 5 << 20);
  std::vector<unsigned char> there(n), back(n);
  for (size_t i = 0; i < n; ++i) there[i] = static_cast<unsigned char>(i * 7 + i / 251);
  const auto bytes = static_cast<int64_t>(n);
  void* const first = cuda::gpu().allocate(bytes);
  void* const second = cuda::gpu().allocate(bytes);
  cuda::gpu().copy_to_device(first, there.data(), bytes);
  const std::vector<unsigned char> sent = there;
  there.assign(n, 0);  // overwrites the source: copy_to_device has already copied it when it returns
  cuda::gpu().copy_on_device(second, first, bytes);
  cuda::gpu().fill_zero(first, bytes);
  cuda::gpu().copy_to_host(back.data(), second, bytes);
  CHECK(back == sent);
  cuda::gpu().copy_to_host(back.data(), first, bytes);
  CHECK(back == std::vector<unsigned char>(n, 0));
  cuda::gpu().release(first);
  cuda::gpu().release(second);
  cuda::gpu().synchronize();
}

TEMPLATE_TEST_CASE("matmul on the GPU agrees with plain loops", "[kernels][gpu]", float, double) {
  if (!test::has(Device::cuda)) return;
  const int64_t m = GENERATE(0, 1, 33), n = GENERATE(1, 31), k = GENERATE(0, 1, 129);
  const bool transpose_a = GENERATE(false, true), transpose_b = GENERATE(false, true);
  std::vector<TestType> a(static_cast<size_t>(m * k)), b(static_cast<size_t>(k * n)), c(static_cast<size_t>(m * n));
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<TestType>(i % 7) - 3;
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<TestType>(i % 5) - 2;
  const auto upload = [](const std::vector<TestType>& v) {
    const auto bytes = static_cast<int64_t>(v.size() * sizeof(TestType));
    auto* const data = static_cast<TestType*>(cuda::gpu().allocate(bytes));
    cuda::gpu().copy_to_device(data, v.data(), bytes);
    return data;
  };
  TestType *const a_there = upload(a), *const b_there = upload(b), *const c_there = upload(c);
  cuda::gpu().matmul(cuda::Product<TestType>{transpose_a, transpose_b, m, n, k, a_there, b_there, c_there});
  cuda::gpu().copy_to_host(c.data(), c_there, static_cast<int64_t>(c.size() * sizeof(TestType)));
  int64_t wrong = 0;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      TestType total = 0;  // exact: a sum of small integers
      for (int64_t l = 0; l < k; ++l) {
        total += (transpose_a ? a[l * m + i] : a[i * k + l]) * (transpose_b ? b[j * k + l] : b[l * n + j]);
      }
      if (c[i * n + j] != total) ++wrong;
    }
  }
  CHECK(wrong == 0);
  for (TestType* const data : {a_there, b_there, c_there}) cuda::gpu().release(data);
}

}  // namespace
}  // namespace mr
