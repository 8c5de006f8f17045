// Lua functions that describe this program: its version and the hardware that it can use.
#include "kernels/core/numerics.h"
#include "kernels/core/simd/simd.h"
#include "kernels/core/threads.h"
#include "kernels/device/gpu.h"
#include "runtime/lua/bind.h"
#include "runtime/tensor/available.h"
#include "runtime/tensor/storage.h"

namespace mr {
namespace {

std::string version_of() { return MR_VERSION; }
std::string simd_of() { return cpu::simd_name(cpu::simd()); }
bool has_cuda_of() { return cuda::gpu().available(); }
int64_t cuda_count_of() { return cuda::gpu().devices(); }
std::string cuda_of() { return has_cuda_of() ? cuda::gpu().name() : cuda::gpu().reason(); }
int64_t held_of() { return Storage::held(Device::cpu) + Storage::held(Device::cuda); }
int64_t fresh_of() { return Storage::fresh(); }
int64_t kept_of() { return Storage::kept(Device::cpu) + Storage::kept(Device::cuda); }
int64_t waits_of() { return cuda::gpu().waits(); }
int64_t threads_of(std::optional<int64_t> n) {
  if (n && (*n < 1 || *n > 4096)) throw ArgumentError("n", std::to_string(*n) + ", expected 1 to 4096");
  if (n) cpu::set_threads(static_cast<int>(*n));
  return cpu::threads();
}
void check_interrupt_of() { cpu::check_interrupt(); }

}  // namespace

using lua::op;
extern const lua::OpTable about_functions{
    lua::OpTable::functions,
    nullptr,
    {
        op<&version_of>("version", "", "Version of the program."),
        op<&numerics>("numerics", "",
                      "The numerics version, which changes only when results may change. 'scalar' is appended on "
                      "x86-64 processors without AVX2 and FMA, where the last digits differ."),
        op<&simd_of>("simd", "", "The instruction set of inner loops: 'scalar', 'avx2', 'avx512' or 'neon'."),
        op<&has_cuda_of>("has_cuda", "", "True if a GPU can be used."),
        op<&cuda_of>("cuda", "", "Name of the GPU, or the reason why none can be used."),
        op<&cuda_count_of>("cuda_count", "", "Number of GPUs that this process may use. It computes on the first one."),
        op<&held_of>("held_bytes", "", "Bytes of live tensors, lists and tables of users' items."),
        op<&available_bytes>(
            "available_bytes", "",
            "Available bytes of main memory by the kernel's estimate, or a large number if there is no estimate."),
        op<&fresh_of>("fresh_tensors", "", "Number of CPU tensors so far whose memory came from the system."),
        op<&kept_of>("kept_bytes", "", "Freed bytes that are kept for new tensors."),
        op<&waits_of>("cuda_waits", "", "Number of waits for the GPU so far."),
        op<&threads_of>("threads", "n?", "Sets the number of threads, if given, and returns it."),
        op<&check_interrupt_of>("check_interrupt", "", "Raises 'interrupted' if Ctrl-C was pressed."),
    }};

}  // namespace mr
