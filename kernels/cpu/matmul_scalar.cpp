#define MR_SIMD scalar
#include "kernels/cpu/matmul_loops.h"
