// Lua functions that describe this program: its version and the hardware that it can use.
#include "kernels/core/numerics.h"
#include "kernels/core/simd.h"
#include "kernels/core/threads.h"
#include "kernels/device/gpu.h"
#include "runtime/lua/bind.h"
#include "runtime/tensor/available.h"
#include "runtime/tensor/storage.h"

namespace mr {
namespace {

std::string version_of() { return MR_VERSION; }
std::string simd_of() { return cpu::simd_name(); }
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
                      "The name of the arithmetic that results come from: it changes only when results may. With "
                      "'scalar' behind it where the processor has no AVX2 and FMA, whose last digits differ."),
        op<&simd_of>("simd", "", "The instruction set of the hot loops: 'scalar', 'avx2' or 'avx512'."),
        op<&has_cuda_of>("has_cuda", "", "Whether a usable GPU is there."),
        op<&cuda_of>("cuda", "", "Name of the GPU, or why there is none."),
        op<&cuda_count_of>("cuda_count", "", "How many GPUs this process may use; it computes on the first."),
        op<&held_of>("held_bytes", "", "Bytes that live tensors hold."),
        op<&available_bytes>("available_bytes", "",
                             "Bytes of main memory that are available by the kernel's estimate, a large number where "
                             "it gives none."),
        op<&fresh_of>("fresh_tensors", "", "How many tensors of the CPU so far took their memory from the system."),
        op<&kept_of>("kept_bytes", "", "Bytes that are kept for the next tensors."),
        op<&waits_of>("cuda_waits", "", "How often the program waited for the GPU."),
        op<&threads_of>("threads", "n?", "Sets, if given, and returns the number of threads."),
        op<&check_interrupt_of>("check_interrupt", "", "Raises 'interrupted' if Ctrl-C was pressed."),
    }};

}  // namespace mr
