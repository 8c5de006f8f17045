#include "runtime/tensor/device.h"

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "kernels/device/gpu.h"
#include "runtime/tensor/without_zeros.h"

namespace mr {
namespace {

Device& the_default() {
  static Device device = [] {
    const char* const name = std::getenv("MOONRANK_DEVICE");
    return name == nullptr || *name == '\0' ? Device::cpu : to_device(name);
  }();
  return device;
}

}  // namespace

Device to_device(std::string_view name) {
  if (name == "cpu") return Device::cpu;
  if (name != "cuda")
    throw std::invalid_argument("'" + without_zeros(name) + "' is not a device, expected 'cpu' or 'cuda'");
  if (!cuda::gpu().available()) throw std::invalid_argument("cuda is not available: " + cuda::gpu().reason());
  return Device::cuda;
}

Device default_device() { return the_default(); }
void set_default_device(Device device) { the_default() = device; }

}  // namespace mr
