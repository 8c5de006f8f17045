// Tests of the rules of GPU memory and recordings, on the emulated GPU. During a recording it refuses the calls that a
// real GPU refuses, and it treats an upload as unfinished until the host has waited for it.
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/device/gpu.h"
#include "kernels/device/staging.h"
#include "tests/support/on_device.h"

namespace mr {
namespace {

using test::OnDevice;

TEST_CASE("an error during a recording neither loses the GPU nor damages the recording", "[cuda][capture]") {
  const OnDevice<int64_t> to(std::vector<int64_t>{1, 2, 3});
  cuda::gpu().begin_capture();
  cuda::gpu().note_failure("an operation failed");
  cuda::gpu().fill_zero(to.data(), 16);
  const std::unique_ptr<cuda::Capture> recording = cuda::gpu().end_capture();
  REQUIRE_NOTHROW(cuda::gpu().require_alive());
  REQUIRE(recording != nullptr);
  CHECK(to.values() == std::vector<int64_t>{1, 2, 3});
  recording->run();
  CHECK(to.values() == std::vector<int64_t>{0, 0, 3});
}

TEST_CASE("freeing a recording while another is made does not damage the new one", "[cuda][capture]") {
  const OnDevice<int64_t> to(std::vector<int64_t>{1, 2, 3});
  std::vector<std::unique_ptr<cuda::Capture>> old;
  for (int i = 0; i < 3; ++i) {
    cuda::gpu().begin_capture();
    const OnDevice<int64_t> scratch(100 + 1000 * i);
    cuda::gpu().fill_zero(scratch.data(), 800);
    old.push_back(cuda::gpu().end_capture());
  }
  cuda::gpu().begin_capture();
  cuda::gpu().fill_zero(to.data() + 1, 8);
  old.clear();
  std::unique_ptr<cuda::Capture> recording = cuda::gpu().end_capture();
  REQUIRE(recording != nullptr);
  recording->run();
  CHECK(to.values() == std::vector<int64_t>{1, 0, 3});
  // the memory of freed recordings is available for other tensors
  recording.reset();
  const int64_t kept = cuda::gpu().kept_bytes();
  const OnDevice<int64_t> small(100), middle(1100), large(2100);
  CHECK(cuda::gpu().kept_bytes() < kept);
}

TEST_CASE("copy_to_device waits only if the staging memory is full", "[cuda][staging]") {
  const int64_t small = 100;
  std::vector<char> bytes(static_cast<size_t>(small), 'x');
  const OnDevice<char> to(small);
  cuda::gpu().synchronize();
  int64_t before = cuda::gpu().waits();
  for (int i = 0; i < 2000; ++i) cuda::gpu().copy_to_device(to.data(), bytes.data(), small);
  CHECK(cuda::gpu().waits() == before);

  // Uploads three times as much as the pinned memory holds. The first upload finds all pieces free; in the second and
  // third, every piece has to wait until its last transfer is done.
  const OnDevice<char> large(cuda::StagingPlaces::all_bytes);
  bytes.assign(static_cast<size_t>(large.size()), 'y');
  cuda::gpu().synchronize();
  before = cuda::gpu().waits();
  for (int i = 0; i < 3; ++i) cuda::gpu().copy_to_device(large.data(), bytes.data(), large.size());
  const int64_t waits = cuda::gpu().waits() - before;
  CHECK(waits >= 2 * cuda::StagingPlaces::pieces - 1);
  CHECK(waits <= 2 * cuda::StagingPlaces::pieces + 1);
}

TEST_CASE("copy_to_device transfers uploads of every size", "[cuda][staging]") {
  const int64_t piece = cuda::StagingPlaces::piece_bytes;
  for (const int64_t size : {int64_t{1}, int64_t{63}, int64_t{64}, int64_t{65}, piece - 1, piece, piece + 1,
                             5 * piece + 7, cuda::StagingPlaces::all_bytes + 100}) {
    std::vector<uint8_t> values(static_cast<size_t>(size));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint8_t>(i * 7 + i / 256);
    for (int again = 0; again < 3; ++again) CHECK(OnDevice<uint8_t>(values).values() == values);
  }
}

TEST_CASE("StagingPlaces reuses a place only after its piece was left and entered again", "[cuda][staging]") {
  cuda::StagingPlaces places;
  // for each byte of the pinned memory, the number of the upload that wrote to it
  std::vector<int> writer(cuda::StagingPlaces::all_bytes, -1);
  std::vector<int> left(cuda::StagingPlaces::pieces, 0);
  int current = 0;
  for (int upload = 0; upload < 400; ++upload) {
    int64_t bytes = 1 + upload * 7919 % 300000;
    while (bytes > 0) {
      const auto place = places.next(bytes);
      REQUIRE(place.bytes > 0);
      REQUIRE(place.at % 64 == 0);
      REQUIRE(place.left == (place.entered < 0 ? -1 : current));
      if (place.entered >= 0) {
        current = place.entered;
        const auto begin = writer.begin() + current * cuda::StagingPlaces::piece_bytes;
        std::fill(begin, begin + cuda::StagingPlaces::piece_bytes, -1);
      }
      REQUIRE(place.at / cuda::StagingPlaces::piece_bytes == current);
      REQUIRE((place.at + place.bytes - 1) / cuda::StagingPlaces::piece_bytes == current);
      for (int64_t i = 0; i < place.bytes; ++i) {
        if (writer[place.at + i] >= 0) FAIL("a place is given out twice");
        writer[place.at + i] = upload;
      }
      bytes -= place.bytes;
    }
  }
}

}  // namespace
}  // namespace mr
