// Lua functions for model files and other files.
#include <filesystem>

#include "kernels/core/numerics.h"
#include "runtime/io/files/new_file.h"
#include "runtime/io/files/regular_file.h"
#include "runtime/io/files/text_file.h"
#include "runtime/io/formats/npy.h"
#include "runtime/io/formats/safetensors.h"
#include "runtime/lua/bind.h"
#include "runtime/ops/argument_checks.h"

namespace mr {
namespace {

/// the key of the metadata entry with the numerics version
constexpr const char* numerics_key = "numerics";

void save_tensors(const std::string& path, const std::string& format, const std::vector<std::string>& names,
                  const std::vector<Tensor>& tensors, const std::vector<std::string>& keys,
                  const std::vector<std::string>& values) {
  check::as_many("names", names.size(), "tensor", tensors.size());
  check::as_many("keys", keys.size(), "value", values.size());
  TensorFile file{names, tensors, {{format_key, format}, {numerics_key, numerics()}}};
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == format_key || keys[i] == numerics_key || keys[i] == checksum_key || keys[i] == checked_key)
      throw ArgumentError("keys", "'" + keys[i] + "' is reserved for the file format");
    file.metadata[keys[i]] = values[i];
  }
  write_safetensors(path, file);
}

std::tuple<std::vector<std::string>, std::vector<Tensor>, std::vector<std::string>, std::vector<std::string>>
load_tensors(const std::string& path, const std::string& writer) {
  TensorFile file = read_safetensors(path);
  // Files of older versions have no metadata entry for the format and are accepted. An empty `writer` accepts every
  // format.
  const auto format = file.metadata.find(format_key);
  if (format != file.metadata.end()) {
    if (!writer.empty() && format->second.rfind(writer + " ", 0) != 0)
      throw std::runtime_error(path + ": the format of the file is " + mr::quoted(format->second) + ", expected '" +
                               writer + "'");
    file.metadata.erase(format);
  }
  std::vector<std::string> keys, values;
  for (auto& [key, value] : file.metadata) {
    keys.push_back(key);
    values.push_back(value);
  }
  return {std::move(file.names), std::move(file.tensors), std::move(keys), std::move(values)};
}

bool file_exists(const std::string& path) {
  io::need_path(path);
  std::error_code unknown;  // takes errors, for example of a path that is too long: then the file counts as missing
  return std::filesystem::exists(path, unknown);
}
bool is_file(const std::string& path) {
  std::error_code unknown;
  return std::filesystem::is_regular_file(path, unknown);
}

std::tuple<std::vector<std::string>, std::vector<Tensor>> read_npz_of(const std::string& path) {
  io::NamedTensors found = io::read_npz(path);
  return {std::move(found.names), std::move(found.tensors)};
}

void write_npz_of(const std::string& path, const std::vector<std::string>& names, const std::vector<Tensor>& tensors) {
  check::as_many("names", names.size(), "tensor", tensors.size());
  io::write_npz(path, {names, tensors});
}

void write_file_of(const std::string& path, const std::string& bytes) {
  io::write_file(path, {bytes}, &io::replace_any);
}

}  // namespace

extern const lua::OpTable model_file_functions{
    lua::OpTable::functions,
    nullptr,
    {
        lua::op<&save_tensors>(
            "save_tensors", "path, format, names, tensors, keys, values",
            "Writes a safetensors file with metadata, which include the numerics version and the format, 'moonrank "
            "WHAT VERSION'. An existing file is replaced only if it has this format, in any version."),
        lua::op<&write_file_of>("write_file", "path, bytes",
                                "Writes a whole file atomically. An existing regular file is replaced."),
        lua::op<&io::need_regular>("check_file", "path",
                                   "Raises an error if the path exists but is not a regular file: a folder, a pipe, a "
                                   "device, or a dangling link."),
        lua::op<&is_file>("is_file", "path", "True if a regular file of this name exists."),
        lua::op<&file_exists>("file_exists", "path", "True if a file or folder of this name exists."),
        lua::op<&io::make_folder_of>("make_folder", "path", "Makes the file's folder and its parents."),
        lua::op<&load_tensors>("load_tensors", "path, writer",
                               "Names, tensors, metadata keys and values (without the format) of a safetensors file. "
                               "Raises an error if its format is not 'moonrank WHAT'; '' accepts every format."),
        lua::op<&io::read_npy>("read_npy", "path", "The tensor of an .npy file."),
        lua::op<&io::write_npy>("write_npy", "path, tensor", "Writes an .npy file. Only an .npy file is replaced."),
        lua::op<&read_npz_of>("read_npz", "path", "Names and tensors of an .npz file."),
        lua::op<&write_npz_of>("write_npz", "path, names, tensors",
                               "Writes an .npz file. Only a zip file is replaced."),
    }};

}  // namespace mr
