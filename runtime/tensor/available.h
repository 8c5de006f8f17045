// Memory that a program may still take.
#pragma once

#include <cstdint>

namespace mr {

/// Bytes that are available by the kernel's estimate; the largest number where it gives none.
int64_t available_bytes();

}  // namespace mr
