// A file with sampled values of a metric: a header of fixed size, the distinct values, and the counts of repeated
// values. Numbers have the machine's byte order; a file with another byte order is ignored.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/bounds/distribution.h"

namespace mr {

/// Reads a distribution from a file of sampled values. Returns nothing if the file is missing or damaged, or has
/// another version or another key. The samples must then be drawn again.
std::optional<Distribution> read_sample_file(const std::string& path, const std::string& key);

/// Writes a distribution to a file of sampled values. It replaces no other kind of file. An error is a
/// std::runtime_error with the path.
void write_sample_file(const std::string& path, const std::string& key, const Distribution& distribution);

/// Returns an upper bound of the number of bytes that a distribution takes in a file of sampled values.
int64_t sample_file_bytes(const Distribution& distribution);

/// Returns true if the file begins with the magic bytes of a file of sampled values.
bool is_sample_file(const std::string& path);

}  // namespace mr
