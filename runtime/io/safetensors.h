// Tensors in a file, in the safetensors format: 8 bytes little-endian length, a JSON header, raw arrays. Nothing in it
// is code.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace mr {

struct TensorFile {
  std::vector<std::string> names;
  std::vector<Tensor> tensors;
  std::map<std::string, std::string> metadata;
};

/// The entry of the metadata that says who wrote a file, and the version: "moonrank model 1".
constexpr const char* format_key = "format";

/// The entries that hold a checksum of the header and all tensors; files without them, as of other programs, are read
/// unchecked.
constexpr const char *checksum_key = "checksum xxh64", *checked_key = "checksum of";

/// Writes a file whose metadata has the format, with a checksum; an existing file is replaced where it is of the same
/// writer (io::NewFile). Throws with the path.
void write_safetensors(const std::string& path, const TensorFile& file);
/// The header is checked against the file before anything is allocated, and what was read against the checksum, which
/// is not among the metadata returned. Throws with the path and what is wrong.
TensorFile read_safetensors(const std::string& path);

}  // namespace mr
