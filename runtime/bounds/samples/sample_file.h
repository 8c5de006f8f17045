// A file with a distribution from samples: a header of fixed size, the distinct values, and the counts of repeated
// values. Numbers have the machine's byte order; a file with another byte order is ignored.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/bounds/distribution.h"

namespace mr {

/// Reads a distribution. Returns nothing if the file is missing, damaged, of another version, or of another key; it
/// must then be made again.
std::optional<Distribution> read_sample_file(const std::string& path, const std::string& key);

/// Writes a file through io::NewFile, over files of this kind only. Throws std::runtime_error with the path.
void write_sample_file(const std::string& path, const std::string& key, const Distribution& distribution);

/// An upper bound of the file size of a distribution.
int64_t sample_file_bytes(const Distribution& distribution);

/// True if the file has the magic bytes that `write_sample_file` writes.
bool is_sample_file(const std::string& path);

}  // namespace mr
