#define MR_SIMD avx512
#include "kernels/cpu/matmul_loops.h"
