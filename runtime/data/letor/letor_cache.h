// Caches the data of a LETOR text file in a binary file, which loads at the speed of the disk.
#pragma once

#include <string>

#include "runtime/data/letor/letor.h"

namespace mr {

/// Like read_letor, but uses a cache file in `folder`, which belongs to this path and these options. The cache is used
/// if the text file has the same size and times as when the cache was made. If the times differ or are too recent to be
/// sure, the checksum decides. A missing or outdated cache is written anew. `problem` is empty, unless an existing
/// cache was unusable (damaged, or of another file or version) or the new one cannot be written; then it says why.
LetorFile read_letor_cached(const std::string& path, const LetorOptions& options, const std::string& folder,
                            std::string& problem);

std::string letor_cache_path(const std::string& path, const LetorOptions& options, const std::string& folder);

}  // namespace mr
