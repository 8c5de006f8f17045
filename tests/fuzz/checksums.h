// Files with their checksums made right, so that what lies behind them is read.
#pragma once

#include <string>

namespace mr::fuzz {

inline const std::string cache_key = "key";    // of the text file, in caches of LETOR files
inline const std::string sample_key(64, 'k');  // of a distribution, in files of samples

std::string with_cache_checksums(std::string bytes);
std::string with_sample_checksums(std::string bytes);
/// Each chunk's, as far as their lengths are those of a file.
std::string with_png_checksums(std::string bytes);
/// SQLite's log of writes: its header's, and each page's with the salts that belong to them.
std::string with_log_checksums(std::string bytes);

}  // namespace mr::fuzz
