// Matrix products through cuBLAS. cuBLAS thinks in columns: what it calls b^T a^T is c^T, which is our c in rows.
#include "kernels/core/shared_library.h"
#include "kernels/device/check.h"
#include "kernels/device/device.h"

namespace mr::cuda {
namespace {

struct Cublas : SharedLibrary {
  Cublas() : SharedLibrary(MR_LIBCUBLAS, "products of matrices on the GPU are computed by") {}
  MR_FUNCTION(cublasCreate);
  MR_FUNCTION(cublasSetStream);
  MR_FUNCTION(cublasSetWorkspace);
  MR_FUNCTION(cublasSgemm_64);
  MR_FUNCTION(cublasDgemm_64);
  MR_FUNCTION(cublasGetStatusString);
};

/// Loaded with the first product: it is hundreds of megabytes.
const Cublas& cublas() {
  static const Cublas library;
  return library;
}

/// Made on first use and never destroyed: at exit the driver may be gone before us.
cublasHandle_t blas() {
  static const cublasHandle_t handle = [] {
    cublasHandle_t made = nullptr;
    CUBLAS_TRY(cublas().cublasCreate(&made));
    CUBLAS_TRY(cublas().cublasSetStream(made, stream()));
    // memory of its own, so that a recording finds it where it was
    constexpr size_t workspace_bytes = size_t{32} << 20;
    void* workspace = nullptr;
    CUDA_TRY(cudaMalloc(&workspace, workspace_bytes));
    CUBLAS_TRY(cublas().cublasSetWorkspace(made, workspace, workspace_bytes));
    return made;
  }();
  return handle;
}

template <class Real, class Gemm>
void product(Gemm gemm, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const Real* a,
             const Real* b, Real* c) {
  if (m == 0 || n == 0) return;
  if (k == 0) return fill_zero(c, m * n * static_cast<int64_t>(sizeof(Real)));
  require_alive();
  note_launch("matmul");
  const Real one = 1, zero = 0;
  CUBLAS_TRY((cublas().*gemm)(blas(), transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N, transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N,
                              n, m, k, &one, b, transpose_b ? k : n, a, transpose_a ? m : k, &zero, c, n));
}

}  // namespace

const char* text_of(cublasStatus_t status) { return cublas().cublasGetStatusString(status); }

void matmul(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const float* a, const float* b,
            float* c) {
  product(&Cublas::cublasSgemm_64, transpose_a, transpose_b, m, n, k, a, b, c);
}

void matmul(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const double* a, const double* b,
            double* c) {
  product(&Cublas::cublasDgemm_64, transpose_a, transpose_b, m, n, k, a, b, c);
}

}  // namespace mr::cuda
