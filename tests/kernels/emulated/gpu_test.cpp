// Tests of class Gpu, which owns all resources of one GPU. Two objects share nothing, and each frees its resources in
// its destructor.
#include "kernels/device/gpu.h"

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/support/emulated_gpu/driver.h"

namespace mr {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using cuda::Gpu;

std::vector<char> bytes_at(Gpu& gpu, const void* data, size_t count) {
  std::vector<char> out(count);
  gpu.copy_to_host(out.data(), data, static_cast<int64_t>(count));
  return out;
}

TEST_CASE("Gpu frees all that it owns when it is destroyed", "[cuda][gpu]") {
  const char table[100] = {};
  const int64_t before = test::owned;
  {
    Gpu gpu;
    void* const kept = gpu.allocate(1000);
    void* const held = gpu.allocate(2000);
    gpu.release(kept);
    gpu.copy_to_device(held, table, sizeof table);
    gpu.constant(table, sizeof table);
    std::unique_ptr<cuda::Capture> old;
    for (int i = 0; i < 2; ++i) {
      gpu.begin_capture();
      // in the second round, frees the first recording while another is being made, so the memory is freed when that
      // ends
      old.reset();
      void* const scratch = gpu.allocate(3000 + 1000 * i);
      gpu.fill_zero(scratch, 3000);
      gpu.copy_to_device(scratch, table, sizeof table);
      gpu.release(scratch);
      old = gpu.end_capture();
      REQUIRE(old != nullptr);
    }
    gpu.begin_capture();
    old.reset();
    gpu.fill_zero(held, 2000);
    CHECK(test::owned >= before + 6);
  }
  CHECK(test::owned == before);
}

TEST_CASE("Gpu shares no recordings, waits and kept memory with another Gpu", "[cuda][gpu]") {
  Gpu recording, other;
  const std::vector<char> ones(100, 1), zeros(100, 0);
  void* const here = recording.allocate(100);
  void* const there = other.allocate(100);
  recording.copy_to_device(here, ones.data(), 100);
  other.copy_to_device(there, ones.data(), 100);
  NanNotes notes(nullptr);
  recording.open_notes(notes);
  recording.begin_capture();
  const int64_t waits = recording.waits();

  recording.fill_zero(here, 100);
  other.fill_zero(there, 100);
  CHECK(bytes_at(other, there, 100) == zeros);
  CHECK(other.waits() == 1);
  other.note_failure("an operation failed");
  other.require_alive();
  other.release(there);
  CHECK(other.kept_bytes() > 0);
  CHECK(recording.kept_bytes() == 0);
  CHECK(other.notes() == nullptr);
  CHECK_THROWS_WITH(other.end_capture(), Contains("end") && Contains("recording"));
  CHECK_THROWS_WITH(recording.synchronize(), Contains("wait") && Contains("recorded"));
  CHECK(recording.waits() == waits);

  const std::unique_ptr<cuda::Capture> recorded = recording.end_capture();
  REQUIRE(recorded != nullptr);
  CHECK(bytes_at(recording, here, 100) == ones);
  recorded->run();
  CHECK(bytes_at(recording, here, 100) == zeros);
  recording.release(here);
}

TEST_CASE("Gpu that is lost reports the cause in every later call, and another Gpu still works", "[cuda][gpu]") {
  Gpu lost, other;
  void* const data = lost.allocate(100);
  lost.note_launch("3foo");
  lost.note_launch("recorded work");
  CHECK_THROWS_WITH(lost.fail("no such thing", "call()", "file.cu", 7),
                    "CUDA: no such thing in call() (file.cu:7); one of the last operations caused it "
                    "(CUDA_LAUNCH_BLOCKING=1 tells which): recorded work, before it foo");
  lost.require_alive();  // the GPU still works: the error was only of the call before
  lost.synchronize();
  CHECK_THROWS_WITH(lost.fail("no such thing", "call()", "file.cu", 7), EndsWith("(file.cu:7)"));

  test::driver_of(lost).break_down();
  lost.note_launch("3foo");
  CHECK_THROWS_WITH(lost.fail("broken", "call()", "file.cu", 8), EndsWith("(file.cu:8); running: foo"));
  CHECK_THROWS(lost.fail("still broken", "call()", "file.cu", 9));
  const std::string is_told =
      "the CUDA device was lost earlier; restart to use it again. CUDA: broken in call() (file.cu:8); running: foo";
  CHECK_THROWS_WITH(lost.synchronize(), is_told);
  CHECK_THROWS_WITH(lost.allocate(1), is_told);
  CHECK_THROWS_WITH(lost.copy_to_device(data, "x", 1), is_told);
  CHECK_THROWS_WITH(lost.fill_zero(data, 1), is_told);
  CHECK_THROWS_WITH(lost.begin_capture(), is_told);
  lost.release(data);
  other.synchronize();
}

TEST_CASE("Gpu that runs out of memory does not affect another Gpu and can allocate later", "[cuda][gpu]") {
  Gpu gpu, other;
  test::driver_of(gpu).run_out_of_memory_after(1);
  void* const first = gpu.allocate(100);
  CHECK_THROWS_AS(gpu.allocate(100), std::bad_alloc);
  other.release(other.allocate(100));
  test::driver_of(gpu).run_out_of_memory_after(-1);
  gpu.release(first);
  CHECK(gpu.allocate(100) == first);
}

TEST_CASE("Gpu::constant uploads a table once, and separately within a recording", "[cuda][gpu]") {
  Gpu gpu;
  const std::vector<char> table(1000, 7);
  gpu.begin_capture();
  const void* const recorded = gpu.constant(table.data(), 1000);
  CHECK(gpu.constant(table.data(), 1000) == recorded);
  void* const to = gpu.allocate(1000);
  gpu.copy_on_device(to, recorded, 1000);
  const std::unique_ptr<cuda::Capture> recording = gpu.end_capture();
  REQUIRE(recording != nullptr);

  const void* const kept = gpu.constant(table.data(), 1000);
  CHECK(kept != recorded);
  // the table is uploaded at once, although the recording that also uploads it has not run
  CHECK(bytes_at(gpu, kept, 1000) == table);
  CHECK(gpu.constant(table.data(), 1000) == kept);
  recording->run();
  CHECK(bytes_at(gpu, to, 1000) == table);

  gpu.begin_capture();
  CHECK(gpu.constant(table.data(), 1000) == kept);
  gpu.end_capture();
  gpu.release(to);
}

}  // namespace
}  // namespace mr
