// The numerics version: the name of the arithmetic that produced a result.
#pragma once

#include <string>

namespace mr {

/// Change the numerics version only if results of training, evaluation, metrics or bounds may differ from those of the
/// main branch before the change. Studies and checkpoints record the version and refuse to continue under another one
/// unless told to. One exception: with mr.fit{parallel = true}, another number of processes changes the last digits
/// under the same version.
constexpr const char* numerics_version = "2026-11j";

/// Returns the numerics version. It is the same for NEON and for all instruction sets from AVX2 with FMA on. Without
/// these, "scalar" is appended, because the last digits may differ.
std::string numerics();

}  // namespace mr
