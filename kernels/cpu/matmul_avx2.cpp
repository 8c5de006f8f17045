#define MR_SIMD avx2
#include "kernels/cpu/matmul_loops.h"
