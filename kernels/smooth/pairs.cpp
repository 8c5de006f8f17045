#include "kernels/smooth/pairs.h"

#include "kernels/core/simd.h"

namespace mr::cpu {

template <class Real>
const PairLoops<Real>& pair_loops() {
  static const PairLoops<Real> loops = for_this_simd(&scalar::loops<Real>, &avx2::loops<Real>, &avx512::loops<Real>)();
  return loops;
}
template const PairLoops<float>& pair_loops<float>();
template const PairLoops<double>& pair_loops<double>();

}  // namespace mr::cpu
