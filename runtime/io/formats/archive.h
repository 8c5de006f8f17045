// Unpacks untrusted archives: only regular files and folders, only inside the target folder, with a limit on bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

namespace mr::io {

/// Unpacks the files of a zip file whose paths are in `wanted` into `folder`, which must exist. Existing files are not
/// overwritten. Other entries are checked but not unpacked. Throws std::runtime_error naming archive and entry: an
/// incomplete zip file, a damaged entry, a path that leads out of the folder, an entry that is neither file nor folder,
/// more unpacked bytes than `max_bytes` or UnpackLimit allow. After an error, unpacked files remain, so callers unpack
/// into a temporary folder.
void unpack_zip(const std::filesystem::path& archive, const std::filesystem::path& folder,
                const std::set<std::string>& wanted, int64_t max_bytes);

}  // namespace mr::io
