// Reads and writes tensors in the safetensors format: a little-endian length of 8 bytes, a JSON header, raw arrays. The
// format contains no code.
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

/// the key of the metadata entry with a file's format and version, such as "moonrank model 1"
constexpr const char* format_key = "format";

/// the keys of the metadata entries with a checksum of header and tensors; files without them, from other programs, are
/// not checked
constexpr const char *checksum_key = "checksum xxh64", *checked_key = "checksum of";

/// Writes a file whose metadata has the format, with a checksum. An existing file of the same format is replaced
/// (io::NewFile). Throws with the path if the file cannot be written.
void write_safetensors(const std::string& path, const TensorFile& file);
/// Reads a file. The header is checked against the file's size before anything is allocated, and the data against the
/// checksum, which is removed from the returned metadata. Throws with the path and the reason.
TensorFile read_safetensors(const std::string& path);

}  // namespace mr
