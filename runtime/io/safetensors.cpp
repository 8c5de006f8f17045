#include "runtime/io/safetensors.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <unistd.h>

#include <nlohmann/json.hpp>

namespace mr {
namespace {

using Json = nlohmann::json;

constexpr uint64_t largest_header = uint64_t{100} << 20;

[[noreturn]] void fail(const std::string& path, const std::string& text) {
  throw std::runtime_error(path + ": " + text);
}

const char* type_name(Dtype type) { return type == Dtype::float32 ? "F32" : type == Dtype::float64 ? "F64" : "I64"; }

Dtype type_of(const std::string& path, const std::string& name) {
  if (name == "F32") return Dtype::float32;
  if (name == "F64") return Dtype::float64;
  if (name == "I64") return Dtype::int64;
  fail(path, "tensor type '" + name + "', expected F32, F64 or I64");
}

std::string header_of(const TensorFile& file) {
  Json header = Json::object();
  header["__metadata__"] = file.metadata;
  int64_t at = 0;
  for (size_t i = 0; i < file.tensors.size(); ++i) {
    const Tensor& x = file.tensors[i];
    Json shape = Json::array();
    for (int d = 0; d < x.dims(); ++d) shape.push_back(x.size(d));
    header[file.names[i]] = {{"dtype", type_name(x.dtype())}, {"shape", shape}, {"data_offsets", {at, at + x.bytes()}}};
    at += x.bytes();
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

/// Removes the temporary file unless it was renamed.
struct Temporary {
  std::string path;
  ~Temporary() {
    if (!path.empty()) std::remove(path.c_str());
  }
};

Tensor read_tensor(const std::string& path, const std::string& name, const Json& entry, std::ifstream& in,
                   int64_t data_start, int64_t data_bytes) {
  Shape shape;
  for (const Json& n : entry.at("shape")) {
    if (!n.is_number_integer()) fail(path, "tensor '" + name + "' has a size of " + n.dump() + ", expected an integer");
    shape.append(n.get<int64_t>());
  }
  const Dtype type = type_of(path, entry.at("dtype").get<std::string>());
  const auto first = entry.at("data_offsets").at(0).get<int64_t>(),
             last = entry.at("data_offsets").at(1).get<int64_t>();
  if (first < 0 || last < first || last > data_bytes || last - first != shape.entries() * size_of(type)) {
    fail(path, "tensor '" + name + "' of shape " + shape.text() + " does not fit its bytes " + std::to_string(first) +
                   " to " + std::to_string(last) + " of " + std::to_string(data_bytes));
  }
  Tensor out = Tensor::empty(shape, type);
  in.seekg(data_start + first);
  if (out.bytes() > 0 && !in.read(static_cast<char*>(out.raw()), out.bytes()))
    fail(path, "cannot read tensor '" + name + "'");
  return out;
}

}  // namespace

void write_safetensors(const std::string& path, const TensorFile& file) {
  Temporary temporary{path + ".tmp" + std::to_string(getpid())};
  {
    std::ofstream out(temporary.path, std::ios::binary);
    if (!out) fail(path, std::string("cannot write: ") + std::strerror(errno));
    const std::string header = header_of(file);
    const uint64_t length = header.size();
    out.write(reinterpret_cast<const char*>(&length), sizeof length);
    out << header;
    for (const Tensor& x : file.tensors) {
      const Tensor here = x.to(Device::cpu);
      out.write(static_cast<const char*>(here.raw()), here.bytes());
    }
    out.close();
    if (!out) fail(path, std::string("cannot write: ") + std::strerror(errno));
  }
  if (std::rename(temporary.path.c_str(), path.c_str()) != 0)
    fail(path, std::string("cannot write: ") + std::strerror(errno));
  temporary.path.clear();
}

TensorFile read_safetensors(const std::string& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) fail(path, std::string("cannot read: ") + std::strerror(errno));
  const auto bytes = static_cast<int64_t>(in.tellg());
  uint64_t length = 0;
  in.seekg(0);
  if (bytes < 8 || !in.read(reinterpret_cast<char*>(&length), sizeof length))
    fail(path, "not a safetensors file: shorter than 8 bytes");
  if (length > largest_header || static_cast<int64_t>(length) > bytes - 8) {
    fail(path, "not a safetensors file: a header of " + std::to_string(length) + " bytes in a file of " +
                   std::to_string(bytes));
  }
  std::string text(length, ' ');
  in.read(text.data(), static_cast<std::streamsize>(length));
  try {
    const Json header = Json::parse(text);
    TensorFile file;
    const int64_t start = 8 + static_cast<int64_t>(length);
    for (const auto& [name, entry] : header.items()) {
      if (name == "__metadata__") {
        file.metadata = entry.get<std::map<std::string, std::string>>();
        continue;
      }
      file.tensors.push_back(read_tensor(path, name, entry, in, start, bytes - start));
      file.names.push_back(name);
    }
    return file;
  } catch (const Json::exception& e) {
    fail(path, std::string("not a safetensors header: ") + e.what());
  } catch (const std::invalid_argument& e) {
    fail(path, std::string("not a safetensors header: ") + e.what());
  }
}

}  // namespace mr
