// What the device's memory functions must know of a recording (kernels/device/device.h).
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/device/device.h"

namespace mr::cuda {

bool is_capturing();
/// Throws: the work would have to be done before its result can be looked at.
void refuse_while_capturing();
/// An upload as part of the recording, from a copy that stays with it.
void upload_captured(void* to, const void* from, int64_t bytes);

/// The recording as its owner gets it. To free one waits for the GPU, which would spoil a recording that is open then,
/// as it may be when the collector frees an old one: that happens at the end of the open one.
std::unique_ptr<Capture> hand_out(std::unique_ptr<Capture> recording);
/// Frees those that waited for it; no recording is open.
void free_retired() noexcept;

}  // namespace mr::cuda
