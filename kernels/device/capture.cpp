// Records GPU work as CUDA graphs, which CUDA captures from the stream.
#include <cstring>
#include <utility>
#include <vector>

#include "kernels/device/cuda_driver.h"
#include "kernels/device/cuda_try.h"

namespace mr::cuda {
namespace {

class Graph : public Capture {
 public:
  /// `uploads` holds copies of the bytes that the graph uploads whenever it runs.
  Graph(Gpu& gpu, Handle<cudaGraphExec_t> executable, std::vector<HostBytes> uploads)
      : gpu_(gpu), uploads_(std::move(uploads)), executable_(std::move(executable)) {}
  /// An error of this CUDA call is ignored, because it belongs to work queued earlier: the next CUDA call that may
  /// throw reports it.
  ~Graph() override { static_cast<void>(cudaStreamSynchronize(stream(gpu_))); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  void run() override {
    gpu_.note_launch("recorded work");
    CUDA_TRY(gpu_, cudaGraphLaunch(executable_.get(), stream(gpu_)));
  }

 private:
  Gpu& gpu_;
  std::vector<HostBytes> uploads_;
  Handle<cudaGraphExec_t> executable_;
};

}  // namespace

void CudaDriver::upload_recorded(void* to, const void* from, int64_t bytes) {
  const HostBytes& kept = recorded_uploads_.emplace_back(host_bytes(gpu_, bytes));
  std::memcpy(kept.get(), from, static_cast<size_t>(bytes));
  CUDA_TRY(gpu_, cudaMemcpyAsync(to, kept.get(), static_cast<size_t>(bytes), cudaMemcpyHostToDevice, stream()));
}

void CudaDriver::begin_recording() {
  // Uses CUDA's relaxed capture mode, because other modes forbid to allocate memory while work is recorded.
  CUDA_TRY(gpu_, cudaStreamBeginCapture(stream(), cudaStreamCaptureModeRelaxed));
}

std::unique_ptr<Capture> CudaDriver::end_recording() {
  std::vector<HostBytes> uploads = std::exchange(recorded_uploads_, {});
  cudaGraph_t captured = nullptr;
  cudaGraphExec_t executable = nullptr;
  cudaError_t error = cudaStreamEndCapture(stream(), &captured);
  const Handle<cudaGraph_t> graph(captured);
  if (error == cudaSuccess) error = cudaGraphInstantiate(&executable, graph.get(), 0);
  if (error != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return nullptr;
  }
  return std::make_unique<Graph>(gpu_, Handle<cudaGraphExec_t>(executable), std::move(uploads));
}

}  // namespace mr::cuda
