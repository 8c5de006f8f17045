// Which instruction set this processor's hot loops are compiled for. They stand in files of their own, once per set, in
// namespaces scalar, avx2 and avx512.
#pragma once

namespace mr::cpu {

enum class Simd { scalar, avx2, avx512 };

/// The best that the processor has.
Simd best_simd();

/// That, or what MOONRANK_SIMD asks for ("scalar", "avx2", "avx512"); throws where that is
/// not there.
Simd simd();
const char* simd_name();

/// Of the three forms of something the one for this processor.
template <class Form>
Form for_this_simd(Form scalar, Form avx2, Form avx512) {
  return simd() == Simd::avx512 ? avx512 : simd() == Simd::avx2 ? avx2 : scalar;
}

}  // namespace mr::cpu
