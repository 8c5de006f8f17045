// Recordings of the emulated GPU: the work, kept as functions.
#include "kernels/cuda/capture.h"

#include <stdexcept>
#include <utility>
#include <vector>

#include "kernels/cuda/device.h"
#include "kernels/cuda/pool.h"
#include "tests/support/emulated_gpu/memory.h"

namespace mr {
namespace {

bool recording_is_on = false;
std::vector<std::function<void()>> recorded;

void run_now(const std::function<void()>& work) {
  const test::DeviceAccess access;
  work();
}

class Functions : public cuda::Capture {
 public:
  Functions(std::vector<std::function<void()>> work, uint64_t memory) : work_(std::move(work)), memory_(memory) {}
  ~Functions() override { cuda::device_pool().forget(memory_); }
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

void upload_captured(void* to, const void* from, int64_t bytes) { copy_to_device(to, from, bytes); }

void begin_capture() {
  refuse_while_capturing();
  synchronize();
  device_pool().begin_capture();
  recording_is_on = true;
}

std::unique_ptr<Capture> end_capture() {
  if (!recording_is_on) throw std::runtime_error("nothing is being recorded");
  recording_is_on = false;
  return std::make_unique<Functions>(std::exchange(recorded, {}), device_pool().end_capture());
}

}  // namespace cuda
}  // namespace mr
