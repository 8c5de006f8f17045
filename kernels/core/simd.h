// Selects the instruction set (for example AVX2) for inner loops when the program runs. A family of loops is a struct
// of function pointers, for example PairLoops. Its file <family>_loops.h is compiled once per instruction set
// (`mr_compile_loops`).
#pragma once

namespace mr::cpu {

enum class Simd { scalar, avx2, avx512 };

Simd best_simd();

/// The best instruction set, or the one in MOONRANK_SIMD ("scalar", "avx2", "avx512"). Throws if it is not supported.
Simd simd();
const char* simd_name();

/// Selects one of three compiled forms for this processor.
template <class Form>
Form for_this_simd(Form scalar, Form avx2, Form avx512) {
  return simd() == Simd::avx512 ? avx512 : simd() == Simd::avx2 ? avx2 : scalar;
}

/// The loops of a family for one instruction set. Only a processor with that set may call it.
template <class Loops, Simd set>
Loops loops_of();

template <class Loops>
const Loops& chosen_loops() {
  static const Loops loops =
      for_this_simd(&loops_of<Loops, Simd::scalar>, &loops_of<Loops, Simd::avx2>, &loops_of<Loops, Simd::avx512>)();
  return loops;
}

}  // namespace mr::cpu
