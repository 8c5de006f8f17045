// Selects the instruction set (for example AVX2) for inner loops when the program runs. A family of loops is a struct
// of function pointers, for example PairLoops. Its file <family>_loops.h is compiled once per instruction set
// (`mr_compile_loops`).
#pragma once

#include <iterator>
#include <utility>

namespace mr::cpu {

enum class Simd { scalar, avx2, avx512, neon };

/// The instruction sets that `mr_compile_loops` compiles for this kind of processor. The last one is the best.
#if defined(__x86_64__)
constexpr Simd compiled_sets[] = {Simd::scalar, Simd::avx2, Simd::avx512};
#elif defined(__aarch64__)
constexpr Simd compiled_sets[] = {Simd::neon};
#else
constexpr Simd compiled_sets[] = {Simd::scalar};
#endif

/// True if this processor has the instructions of a compiled set.
bool supports(Simd set);
Simd best_simd();

/// Returns this processor's best instruction set, or the one that MOONRANK_SIMD names. Throws if that is not supported.
Simd simd();
const char* simd_name(Simd set);

/// Returns the loops of a family for one instruction set. Only a processor with that set may call them.
template <class Loops, Simd set>
Loops loops_of();

template <class Loops, size_t... i>
Loops loops_of(Simd set, std::index_sequence<i...>) {
  Loops (*found)() = nullptr;
  ((compiled_sets[i] == set ? void(found = &loops_of<Loops, compiled_sets[i]>) : void()), ...);
  return found();
}

/// Returns the loops of a family for a supported instruction set.
template <class Loops>
Loops loops_of(Simd set) {
  return loops_of<Loops>(set, std::make_index_sequence<std::size(compiled_sets)>());
}

template <class Loops>
const Loops& chosen_loops() {
  static const Loops loops = loops_of<Loops>(simd());
  return loops;
}

}  // namespace mr::cpu
