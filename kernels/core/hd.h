// The only file with CUDA's execution space specifiers. MR_HD marks code that runs on CPU and GPU.
#pragma once

#ifdef __CUDACC__
#define MR_HD __host__ __device__
#else
#define MR_HD
#endif
