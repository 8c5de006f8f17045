// Lua functions for recordings of GPU work, which is run again if every epoch queues the same work.
#include <memory>

#include "kernels/device/gpu.h"
#include "runtime/lua/bind.h"

namespace mr {
namespace {
using SharedCapture = std::shared_ptr<cuda::Capture>;
}
template <>
inline constexpr const char* lua::class_name<SharedCapture> = "mr.Capture";

namespace {

void begin_capture_of() { cuda::gpu().begin_capture(); }

std::optional<SharedCapture> end_capture_of() {
  SharedCapture recording = cuda::gpu().end_capture();
  return recording == nullptr ? std::nullopt : std::optional(std::move(recording));
}

void run_of(SharedCapture& recording) { recording->run(); }

}  // namespace

using lua::once;
extern const lua::OpTable capture_functions{
    lua::OpTable::functions,
    nullptr,
    {once<&begin_capture_of>("begin_capture", "", "Starts to record the GPU's work instead of running it."),
     once<&end_capture_of>("end_capture", "", "The recording, or nil if it cannot be run again.")}};
extern const lua::OpTable capture_methods{lua::OpTable::methods,
                                          &lua::push_metatable<SharedCapture>,
                                          {once<&run_of>("run", "self", "Runs the recorded work.")}};

}  // namespace mr
