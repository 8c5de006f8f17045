// The name of the arithmetic that results come from.
#pragma once

#include <string>

namespace mr {

/// Changes only when results of training, evaluation, metrics or bounds may, against what was there before on the main
/// branch: studies and checkpoints record it, and do not go on under another one unless told to. One exception: with
/// mr.fit{parallel = true} another number of processes gives other last digits under the same name.
constexpr const char* numerics_version = "2026-11f";

/// The numerics version. It is the same with every instruction set from AVX2 and FMA on; without these it is followed
/// by "scalar", where last digits may differ.
std::string numerics();

}  // namespace mr
