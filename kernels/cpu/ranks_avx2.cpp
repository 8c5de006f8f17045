#define MR_SIMD avx2
#define MR_VECTOR_BYTES 32
#include "kernels/cpu/ranks_loops.h"
