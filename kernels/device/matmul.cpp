// Matrix products through cuBLAS, whose matrices are column-major: it computes b^T a^T = c^T, which is the row-major c.
#include "kernels/core/shared_library.h"
#include "kernels/device/cuda_driver.h"
#include "kernels/device/cuda_try.h"

namespace mr::cuda {
namespace {

struct Cublas : SharedLibrary {
  Cublas() : SharedLibrary(MR_LIBCUBLAS, "products of matrices on the GPU are computed by") {}
  MR_FUNCTION(cublasCreate);
  MR_FUNCTION(cublasDestroy);
  MR_FUNCTION(cublasSetStream);
  MR_FUNCTION(cublasSetWorkspace);
  MR_FUNCTION(cublasSgemm_64);
  MR_FUNCTION(cublasDgemm_64);
  MR_FUNCTION(cublasGetStatusString);
};

/// cuBLAS is loaded with the first product, because the library has hundreds of megabytes.
const Cublas& cublas() {
  static const Cublas library;
  return library;
}

template <class Real, class Gemm>
void multiply(Gpu& gpu, cublasHandle_t blas, Gemm gemm, const Product<Real>& p) {
  const Real one = 1, zero = 0;
  CUDA_TRY(gpu, (cublas().*gemm)(blas, p.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N,
                                 p.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N, p.n, p.m, p.k, &one, p.b,
                                 p.transpose_b ? p.k : p.n, p.a, p.transpose_a ? p.m : p.k, &zero, p.c, p.n));
}

}  // namespace

const char* text_of(cublasStatus_t status) { return cublas().cublasGetStatusString(status); }

void Destroy::operator()(cublasHandle_t blas) const { static_cast<void>(cublas().cublasDestroy(blas)); }

cublasHandle_t CudaDriver::blas() {
  std::call_once(blas_made_, [this] {
    cublasHandle_t made = nullptr;
    CUDA_TRY(gpu_, cublas().cublasCreate(&made));
    Handle<cublasHandle_t> handle(made);
    CUDA_TRY(gpu_, cublas().cublasSetStream(made, stream()));
    // cuBLAS gets a fixed workspace, so that the address is still the same when a recording of GPU work runs.
    constexpr size_t workspace_bytes = size_t{32} << 20;
    void* workspace = nullptr;
    CUDA_TRY(gpu_, cudaMalloc(&workspace, workspace_bytes));
    blas_workspace_.reset(static_cast<char*>(workspace));
    CUDA_TRY(gpu_, cublas().cublasSetWorkspace(made, workspace, workspace_bytes));
    blas_ = std::move(handle);
  });
  return blas_.get();
}

void CudaDriver::matmul(const Product<float>& product) { multiply(gpu_, blas(), &Cublas::cublasSgemm_64, product); }
void CudaDriver::matmul(const Product<double>& product) { multiply(gpu_, blas(), &Cublas::cublasDgemm_64, product); }

}  // namespace mr::cuda
