// Caches the data of a LETOR file in a binary file that loads at the speed of the disk.
#pragma once

#include <string>

#include "runtime/data/letor/letor.h"

namespace mr {

/// Like read_letor, but reads a cache in `folder` for this path and these options. The cache is written if it is
/// missing or stale. It is stale if the text file has another size, or if both its times (or times too recent to
/// decide) and its checksum differ. A cache that is damaged, or of another file or version, is never used: `problem`
/// then says why it was written again, or why it cannot be written. Otherwise `problem` is empty.
LetorFile read_letor_cached(const std::string& path, const LetorOptions& options, const std::string& folder,
                            std::string& problem);

std::string letor_cache_path(const std::string& path, const LetorOptions& options, const std::string& folder);

}  // namespace mr
