// Finds how much memory the system has available.
#pragma once

#include <cstdint>

namespace mr {

/// Returns the available bytes by the kernel's estimate, or the largest number if there is no estimate.
int64_t available_bytes();

}  // namespace mr
