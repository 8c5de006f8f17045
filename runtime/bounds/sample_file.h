// A file of a distribution from samples: a header of fixed size, the distinct values, and where they occurred more than
// once how often. Numbers are as in memory; a file of a machine with another order of bytes is none of these.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/bounds/distribution.h"

namespace mr {

/// Nothing where there is no file, or one that is damaged, of another version, or of another key: it is to be made
/// anew.
std::optional<Distribution> read_sample_file(const std::string& path, const std::string& key);

/// Replaces such files only, by io::NewFile. Throws std::runtime_error with the path.
void write_sample_file(const std::string& path, const std::string& key, const Distribution& distribution);

/// The largest size that the file of a distribution can have.
int64_t sample_file_bytes(const Distribution& distribution);

/// True if the file begins as files of `write_sample_file` do.
bool is_sample_file(const std::string& path);

}  // namespace mr
