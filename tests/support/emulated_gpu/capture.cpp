// Recordings of the emulated GPU: the work, kept as functions. As on a real one, whoever asks the stream while it
// records gets an error and spoils the recording, and to free a recording asks it.
#include "kernels/device/capture.h"

#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

#include "kernels/device/device.h"
#include "kernels/device/lost.h"
#include "kernels/device/memory_pool.h"
#include "tests/support/emulated_gpu/memory.h"

namespace mr {
namespace {

bool recording_is_on = false, recording_is_spoilt = false;
std::vector<std::function<void()>> recorded;

void run_now(const std::function<void()>& work) {
  const test::DeviceAccess access;
  work();
}

class Functions : public cuda::Capture {
 public:
  Functions(std::vector<std::function<void()>> work, uint64_t memory) : work_(std::move(work)), memory_(memory) {}
  ~Functions() override {
    cuda::queue_works();
    cuda::device_pool().forget(memory_);
  }
  Functions(const Functions&) = delete;
  Functions& operator=(const Functions&) = delete;

  void run() override {
    for (const auto& work : work_) run_now(work);
  }

 private:
  std::vector<std::function<void()>> work_;
  uint64_t memory_;
};

}  // namespace

namespace test {

void queue(std::function<void()> work) {
  if (recording_is_on) {
    recorded.push_back(std::move(work));
  } else {
    run_now(work);
  }
}

}  // namespace test

namespace cuda {

bool is_capturing() { return recording_is_on; }

void refuse_while_capturing() {
  if (recording_is_on) throw std::runtime_error("work that waits for the GPU cannot be recorded");
}

bool queue_works() {
  recording_is_spoilt = recording_is_on;
  return !recording_is_on;
}
bool recording_works() { return true; }

void upload_captured(void* to, const void* from, int64_t bytes) {
  const auto* const first = static_cast<const char*>(from);
  test::queue([to, sent = std::vector<char>(first, first + bytes)] { std::memcpy(to, sent.data(), sent.size()); });
}

void begin_capture() {
  refuse_while_capturing();
  synchronize();
  device_pool().begin_capture();
  recording_is_on = true;
  recording_is_spoilt = false;
}

std::unique_ptr<Capture> end_capture() {
  if (!recording_is_on) throw std::runtime_error("nothing is being recorded");
  recording_is_on = false;
  auto recording = std::make_unique<Functions>(std::exchange(recorded, {}), device_pool().end_capture());
  const bool spoilt = recording_is_spoilt;
  free_retired();
  return spoilt ? nullptr : hand_out(std::move(recording));
}

}  // namespace cuda
}  // namespace mr
