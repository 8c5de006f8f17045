// Unpacks untrusted archives: only plain files and folders, only below the target, only up to a number of bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

namespace mr::io {

/// Unpacks the files of a zip file whose paths are in `wanted` into `folder`, which must exist; nothing in it is
/// overwritten. Other entries are checked and not unpacked. Throws std::runtime_error naming archive and entry: not a
/// complete zip file, a damaged entry, a path that leaves the folder, an entry that is neither file nor folder, more
/// than `max_bytes` unpacked or than UnpackLimit has. What was unpacked before the error stays: callers unpack into a
/// temporary folder.
void unpack_zip(const std::filesystem::path& archive, const std::filesystem::path& folder,
                const std::set<std::string>& wanted, int64_t max_bytes);

}  // namespace mr::io
