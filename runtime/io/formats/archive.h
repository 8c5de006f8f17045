// Unpacks untrusted zip files: only regular files and folders, only inside the target folder, with a limit on bytes.
// Reads and writes the entries of zip files in memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/io/files/new_file.h"

namespace mr::io {

/// Unpacks the files of a zip file whose paths are in `wanted` into `folder`, which must exist. Existing files are not
/// overwritten. Other entries are checked but not unpacked. Throws std::runtime_error naming archive and entry for an
/// incomplete zip file, a damaged entry, a path that leads out of the folder, an entry that is neither file nor folder,
/// more unpacked bytes than `max_bytes` or UnpackLimit allow. After an error, unpacked files remain, so callers unpack
/// into a temporary folder.
void unpack_zip(const std::filesystem::path& archive, const std::filesystem::path& folder,
                const std::set<std::string>& wanted, int64_t max_bytes);

/// Reads the next `bytes` bytes of a zip file's entry into `target`. Throws if the entry is damaged or has fewer bytes
/// left.
using ReadEntry = std::function<void(void* target, int64_t bytes)>;
/// Calls `visit` with the name and the number of bytes of each file in a zip file. The sizes are within UnpackLimit.
/// Throws std::runtime_error naming archive and entry, also for exceptions that `visit` throws.
void read_zip(const std::string& path,
              const std::function<void(const std::string& name, int64_t bytes, const ReadEntry& read)>& visit);

struct ZipEntry {
  std::string name;
  std::vector<std::string_view> parts;  // the content of the entry: these texts, one after another
};
/// Writes a zip file without compression. The file's bytes do not depend on the time of writing.
void write_zip(const std::string& path, const std::vector<ZipEntry>& entries, const Objection& objection);

}  // namespace mr::io
