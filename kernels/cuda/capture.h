// What the device's memory functions must know of a recording (kernels/cuda/device.h).
#pragma once

#include <cstdint>

namespace mr::cuda {

bool is_capturing();
/// Throws: the work would have to be done before its result can be looked at.
void refuse_while_capturing();
/// An upload as part of the recording, from a copy that stays with it.
void upload_captured(void* to, const void* from, int64_t bytes);

}  // namespace mr::cuda
