// A file with a distribution from samples: a header of fixed size, the distinct values, and the counts of repeated
// values. Numbers have the machine's byte order; a file with another byte order is ignored.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/bounds/distribution.h"

namespace mr {

/// Reads a distribution. Returns nothing if the file is missing, damaged, of another version, or of another key; the
/// samples must then be drawn again.
std::optional<Distribution> read_sample_file(const std::string& path, const std::string& key);

/// Writes a file through io::NewFile. It replaces only files of sampled distributions. Throws std::runtime_error with
/// the path.
void write_sample_file(const std::string& path, const std::string& key, const Distribution& distribution);

/// Returns an upper bound of the file size of a distribution.
int64_t sample_file_bytes(const Distribution& distribution);

/// Returns true if the file begins with the magic bytes that `write_sample_file` writes.
bool is_sample_file(const std::string& path);

}  // namespace mr
