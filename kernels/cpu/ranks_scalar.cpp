#define MR_SIMD scalar
#define MR_VECTOR_BYTES 16
#include "kernels/cpu/ranks_loops.h"
