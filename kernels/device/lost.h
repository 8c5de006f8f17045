// Whether the GPU can still be used after an error: device.cu, and the emulated GPU, say what the driver knows.
#pragma once

#include <string>

namespace mr::cuda {

/// Of the driver: whether the work queued so far went well. A stream that records cannot be asked, which would fail and
/// spoil the recording.
bool queue_works();
/// Of the driver: the same, as far as it can be told while the stream records.
bool recording_works();

/// After an error that is told as `cause`: marks the GPU as lost unless it still works.
void note_failure(const std::string& cause);
/// Throws the first cause if the GPU is lost.
void require_not_lost();

}  // namespace mr::cuda
