// Lets a host program that has its own Ctrl-C handler, such as lua5.4 with the module moonrank, interrupt long
// computations.
#pragma once

namespace mr::cpu {

/// Registers a function `ask` of the host program, which returns true after Ctrl-C. Long computations call it from any
/// thread of the pool, and throw Interrupted once it returns true. Passing nullptr removes the function.
void ask_host(bool (*ask)()) noexcept;

}  // namespace mr::cpu
