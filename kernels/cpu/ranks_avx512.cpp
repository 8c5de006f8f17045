#define MR_SIMD avx512
#define MR_VECTOR_BYTES 64
#include "kernels/cpu/ranks_loops.h"
