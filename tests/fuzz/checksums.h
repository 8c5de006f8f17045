// Recomputes the checksums inside of fuzzed files, so that parsers do not refuse a file before they read its content.
#pragma once

#include <string>

namespace mr::fuzz {

inline const std::string cache_key = "key";    // key (of the text file) that fuzzed caches of LETOR files contain
inline const std::string sample_key(64, 'k');  // key (of the distribution) that fuzzed files of samples contain

std::string with_cache_checksums(std::string bytes);
std::string with_sample_checksums(std::string bytes);
/// Returns a PNG file with the right checksum in each chunk, up to the first chunk whose length exceeds the file.
std::string with_png_checksums(std::string bytes);
/// Returns SQLite's write-ahead log with right checksums in its header and in each page. Each page also gets the salts
/// of the header, without which SQLite ignores the page.
std::string with_log_checksums(std::string bytes);

}  // namespace mr::fuzz
