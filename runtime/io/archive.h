// Unpacks untrusted archives: only plain files and folders, only below the target, only up to a number of bytes.
#pragma once

#include <cstdint>
#include <filesystem>

namespace mr::io {

/// Unpacks a zip file into `folder`, which must exist; nothing in it is overwritten. Throws std::runtime_error naming
/// archive and entry: not a complete zip file, a damaged entry, a path that leaves the folder, an entry that is neither
/// file nor folder, more than `max_bytes` unpacked or than UnpackLimit has. What was unpacked before the error stays:
/// callers unpack into a temporary folder.
void unpack_zip(const std::filesystem::path& archive, const std::filesystem::path& folder, int64_t max_bytes);

}  // namespace mr::io
