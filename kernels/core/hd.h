// The only file that spells the CUDA execution space: MR_HD marks what both processors can run.
#pragma once

#ifdef __CUDACC__
#define MR_HD __host__ __device__
#else
#define MR_HD
#endif
