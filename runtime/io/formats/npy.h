// Arrays in NumPy's formats: .npy has one array, .npz is a zip file with an .npy file for each array. Arrays of Python
// objects, which are pickled, are refused: reading them would run code.
#pragma once

#include <string>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace mr::io {

/// Reads an array. Types that tensors do not have are converted (number_types.h), and arrays in Fortran's order are
/// brought into C's order. Throws std::runtime_error with the path and the reason.
Tensor read_npy(const std::string& path);
/// Writes a tensor. An existing file is replaced only if it is an .npy file.
void write_npy(const std::string& path, const Tensor& tensor);

struct NamedTensors {
  std::vector<std::string> names;
  std::vector<Tensor> tensors;
};

NamedTensors read_npz(const std::string& path);
/// Writes tensors without compression. An existing file is replaced only if it is a zip file.
void write_npz(const std::string& path, const NamedTensors& tensors);

}  // namespace mr::io
