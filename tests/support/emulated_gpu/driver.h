// The driver of the emulated GPU. The host cannot touch its memory except through copies and kernels, and kernels may
// be given no pointer into the host's memory. As on a real one, whoever asks the stream while it records gets an error
// and spoils the recording, and to free a recording asks it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "kernels/device/gpu.h"
#include "kernels/device/staging.h"

namespace mr::test {

/// How many there are of what emulated GPUs own: drivers, blocks of memory, recordings.
inline std::atomic<int64_t> owned = 0;

class EmulatedDriver final : public cuda::Driver {
 public:
  using Work = std::function<void()>;
  EmulatedDriver();
  ~EmulatedDriver() override;

  void* take(int64_t bytes) override;
  void give_back(void* data) noexcept override;
  int64_t bytes_for(int64_t bytes) override;
  void handed_out(void* data, int64_t bytes) override;
  void taken_back(void* data) noexcept override;
  int64_t upload(void* to, const void* from, int64_t bytes) override;
  void upload_recorded(void* to, const void* from, int64_t bytes) override;
  void download(void* to, const void* from, int64_t bytes) override;
  void copy(void* to, const void* from, int64_t bytes) override;
  void fill_zero(void* data, int64_t bytes) override;
  void matmul(const cuda::Product<float>& product) override;
  void matmul(const cuda::Product<double>& product) override;
  void wait() override { in_flight_.fill(false); }
  void begin_recording() override;
  std::unique_ptr<cuda::Capture> end_recording() override;
  bool queue_works() override;
  bool recording_works() override { return !broken_; }

  /// Runs `work` on the device: now, or, while it records, whenever the recording is run. Device
  /// memory is accessible meanwhile.
  void queue(Work work);
  void run(const Work& work);

  /// Throws std::logic_error unless every pointer among the words of a kernel's functor is null or points into a live
  /// allocation of the device.
  void check_pointers(const void* work, size_t bytes, const char* kernel) const;
  /// True if this launch runs its lanes backward: every other one does.
  bool next_launch_is_backward() { return backward_ = !backward_; }

  /// From now on there is memory for so many tensors more; below 0: for as many as there is room for.
  void run_out_of_memory_after(int64_t allocations) { allocations_left_ = allocations; }
  /// From now on nothing works, as after a fault of a kernel.
  void break_down() { broken_ = true; }

 private:
  class Access;
  /// Bytes asked for; memory of a recording serves several tensors in turn, each time that it is run.
  struct Tensor {
    size_t bytes;
    bool shared;
  };
  void protect(int protection) const;
  bool closes_now() { return ++accesses_ < 500 || accesses_ % 64 == 0; }
  bool holds(const char* pointer) const;

  char* base_ = nullptr;  // memory, closed to the host
  size_t used_ = 0;
  int open_ = 0;
  int64_t accesses_ = 0;
  bool closed_ = true, backward_ = false, broken_ = false;
  int64_t allocations_left_ = -1;
  cuda::StagingPlaces places_;
  std::array<bool, cuda::StagingPlaces::pieces> in_flight_{};  // the host is always ahead: all is done when it waits
  std::vector<char> staging_ = std::vector<char>(cuda::StagingPlaces::all_bytes);
  std::map<char*, Tensor> live_;
  std::map<char*, size_t> rooms_;  // bytes of address space
  std::map<size_t, std::vector<char*>> free_;
  bool recording_ = false, spoilt_ = false;
  std::vector<Work> recorded_;
};

/// The driver of an emulated GPU.
inline EmulatedDriver& driver_of(const cuda::Gpu& gpu) { return static_cast<EmulatedDriver&>(gpu.driver()); }

}  // namespace mr::test
