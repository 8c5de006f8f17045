#include "kernels/device/lost.h"

#include <mutex>
#include <stdexcept>

#include "kernels/device/capture.h"

namespace mr::cuda {
namespace {

std::mutex mutex;

/// Why the GPU is lost, "" while it is not. Never destroyed: tensors may be released after static objects are gone.
std::string& first_cause() {
  static auto* const cause = new std::string;
  return *cause;
}

}  // namespace

void note_failure(const std::string& cause) {
  if (is_capturing() ? recording_works() : queue_works()) return;
  const std::lock_guard lock(mutex);
  if (first_cause().empty()) first_cause() = cause;
}

void require_not_lost() {
  const std::lock_guard lock(mutex);
  if (!first_cause().empty())
    throw std::runtime_error("the CUDA device was lost earlier; restart to use it again. " + first_cause());
}

}  // namespace mr::cuda
