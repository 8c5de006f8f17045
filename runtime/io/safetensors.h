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

/// Writes to a temporary file beside `path`, then renames: the file is whole or was not touched. Throws with the path.
void write_safetensors(const std::string& path, const TensorFile& file);
/// Sizes in the header are checked against the file before anything is allocated. Throws with the path and what is
/// wrong.
TensorFile read_safetensors(const std::string& path);

}  // namespace mr
