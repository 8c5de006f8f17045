// Recordings as CUDA graphs, captured from the one stream.
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

#include "kernels/device/capture.h"
#include "kernels/device/check.h"
#include "kernels/device/device.h"
#include "kernels/device/memory_pool.h"

namespace mr::cuda {
namespace {

/// Page-locked bytes that a recording's uploads read.
class HostBytes {
 public:
  explicit HostBytes(int64_t bytes) { CUDA_TRY(cudaMallocHost(&data_, static_cast<size_t>(bytes))); }
  HostBytes(HostBytes&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  HostBytes(const HostBytes&) = delete;
  HostBytes& operator=(const HostBytes&) = delete;
  ~HostBytes() {
    if (data_ != nullptr) static_cast<void>(cudaFreeHost(data_));
  }
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

bool recording_is_on = false;
std::vector<HostBytes> uploads;

class Graph : public Capture {
 public:
  Graph(cudaGraphExec_t executable, uint64_t memory, std::vector<HostBytes> sent)
      : executable_(executable), memory_(memory), sent_(std::move(sent)) {}
  /// Errors are those of earlier work; the next call that can throw reports them.
  ~Graph() override {
    static_cast<void>(cudaStreamSynchronize(stream()));
    static_cast<void>(cudaGraphExecDestroy(executable_));
    device_pool().forget(memory_);
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  void run() override {
    note_launch("recorded work");
    CUDA_TRY(cudaGraphLaunch(executable_, stream()));
  }

 private:
  cudaGraphExec_t executable_;
  uint64_t memory_;
  std::vector<HostBytes> sent_;
};

}  // namespace

bool is_capturing() { return recording_is_on; }

void refuse_while_capturing() {
  if (recording_is_on) throw std::runtime_error("work that waits for the GPU cannot be recorded");
}

void upload_captured(void* to, const void* from, int64_t bytes) {
  const HostBytes& kept = uploads.emplace_back(bytes);
  std::memcpy(kept.data(), from, static_cast<size_t>(bytes));
  CUDA_TRY(cudaMemcpyAsync(to, kept.data(), static_cast<size_t>(bytes), cudaMemcpyHostToDevice, stream()));
}

void begin_capture() {
  refuse_while_capturing();
  synchronize();
  // relaxed: memory that is taken meanwhile is no part of the stream's work
  CUDA_TRY(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeRelaxed));
  device_pool().begin_capture();
  recording_is_on = true;
}

std::unique_ptr<Capture> end_capture() {
  if (!recording_is_on) throw std::runtime_error("nothing is being recorded");
  recording_is_on = false;
  const uint64_t memory = device_pool().end_capture();
  std::vector<HostBytes> sent = std::exchange(uploads, {});
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  cudaError_t error = cudaStreamEndCapture(stream(), &graph);
  free_retired();
  if (error == cudaSuccess) error = cudaGraphInstantiate(&executable, graph, 0);
  if (graph != nullptr) static_cast<void>(cudaGraphDestroy(graph));
  if (error != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    device_pool().forget(memory);
    return nullptr;
  }
  return hand_out(std::make_unique<Graph>(executable, memory, std::move(sent)));
}

}  // namespace mr::cuda
