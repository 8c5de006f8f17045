// Keeps the data of a LETOR file in a binary file that loads as fast as the disk can read.
#pragma once

#include <string>

#include "runtime/data/letor.h"

namespace mr {

/// As read_letor, by way of a file in `folder` for this path and these options, written where it is missing or of
/// another state of the text file: another size, or times that differ (or are too close to the writing to tell) and
/// another checksum of the content. One that is damaged, of another file or of another version is never used: `problem`
/// then says why it was written again, or why it cannot be written; otherwise it is empty.
LetorFile read_letor_cached(const std::string& path, const LetorOptions& options, const std::string& folder,
                            std::string& problem);

/// Where that file is.
std::string letor_cache_path(const std::string& path, const LetorOptions& options, const std::string& folder);

}  // namespace mr
