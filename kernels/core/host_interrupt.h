// Ctrl-C in a program that has its own signal handler, such as lua5.4 with the module moonrank.
#pragma once

namespace mr::cpu {

/// Registers `ask`, which returns true after Ctrl-C. Long computations call it from any thread of the pool, and throw
/// Interrupted once it returns true. nullptr: none.
void ask_host(bool (*ask)()) noexcept;

}  // namespace mr::cpu
