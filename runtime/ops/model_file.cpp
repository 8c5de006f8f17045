// Models in files.
#include <filesystem>

#include "runtime/io/safetensors.h"
#include "runtime/lua/bind.h"

namespace mr {
namespace {

void save_tensors(const std::string& path, const std::vector<std::string>& names, const std::vector<Tensor>& tensors,
                  const std::vector<std::string>& keys, const std::vector<std::string>& values) {
  if (names.size() != tensors.size()) throw ArgumentError("names", "as many names as tensors expected");
  if (keys.size() != values.size()) throw ArgumentError("keys", "as many keys as values expected");
  TensorFile file{names, tensors, {}};
  for (size_t i = 0; i < keys.size(); ++i) file.metadata[keys[i]] = values[i];
  write_safetensors(path, file);
}

std::tuple<std::vector<std::string>, std::vector<Tensor>, std::vector<std::string>, std::vector<std::string>>
load_tensors(const std::string& path) {
  TensorFile file = read_safetensors(path);
  std::vector<std::string> keys, values;
  for (auto& [key, value] : file.metadata) {
    keys.push_back(key);
    values.push_back(value);
  }
  return {std::move(file.names), std::move(file.tensors), std::move(keys), std::move(values)};
}

bool file_exists(const std::string& path) { return std::filesystem::exists(path); }

void make_folder(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder);
}

}  // namespace

extern const lua::OpTable model_file_functions{
    lua::OpTable::functions,
    nullptr,
    {
        lua::op<&save_tensors>("save_tensors", "path, names, tensors, keys, values",
                               "Writes a safetensors file with metadata."),
        lua::op<&file_exists>("file_exists", "path", "Whether there is a file or folder of this name."),
        lua::op<&make_folder>("make_folder", "path", "Makes the folder that the file would be in, and those above it."),
        lua::op<&load_tensors>("load_tensors", "path",
                               "Names and tensors, metadata keys and values of a safetensors file."),
    }};

}  // namespace mr
