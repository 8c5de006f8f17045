#include "runtime/io/formats/safetensors.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>

#include "runtime/io/files/checksum.h"
#include "runtime/io/files/new_file.h"
#include "runtime/io/files/regular_file.h"
#include "runtime/io/files/text_file.h"
#include "runtime/io/formats/json.h"
#include "runtime/io/formats/number_types.h"

namespace mr {
namespace {

using Json = nlohmann::json;

constexpr int64_t largest_header = int64_t{100} << 20;

[[noreturn]] void fail(const std::string& path, const std::string& text) {
  throw std::runtime_error(path + ": " + text);
}

constexpr size_t checksum_digits = 16;

/// Returns the position of the checksum's digits in the JSON text of a header. The key in quotes cannot be found inside
/// a JSON string, because quotes in strings are escaped.
std::optional<size_t> checksum_place(const std::string& header) {
  const std::string before = "\"" + std::string(checksum_key) + "\":\"";
  const size_t found = header.find(before), at = found + before.size();
  if (found == std::string::npos || header.find('"', at) != at + checksum_digits) return std::nullopt;
  return at;
}

/// Returns the checksum of the header, with the digits at `place` replaced by 0, and of the tensors, which are given in
/// the order in which they stand in the file.
std::string checksum_of(std::string header, size_t place, const std::vector<const Tensor*>& tensors) {
  header.replace(place, checksum_digits, checksum_digits, '0');
  std::vector<uint64_t> parts{io::checksum(header)};
  for (const Tensor* const x : tensors)
    parts.push_back(io::checksum({static_cast<const char*>(x->raw()), static_cast<size_t>(x->bytes())}));
  char digits[checksum_digits + 1];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(io::checksum_of_blocks(parts)));
  return digits;
}

const char* type_name(Dtype type) { return type == Dtype::float32 ? "F32" : type == Dtype::float64 ? "F64" : "I64"; }

using Texts = std::map<std::string, std::string>;

std::string entry_of(const Tensor& x, int64_t at) {
  std::string shape;
  for (int d = 0; d < x.dims(); ++d) shape += (d > 0 ? "," : "") + std::to_string(x.size(d));
  return io::json_object({{"dtype", io::json_text(type_name(x.dtype()))},
                          {"shape", "[" + shape + "]"},
                          {"data_offsets", "[" + std::to_string(at) + "," + std::to_string(at + x.bytes()) + "]"}});
}

std::string header_of(const TensorFile& file) {
  Texts metadata, header;
  for (const auto& [key, value] : file.metadata) metadata[key] = io::json_text(value);
  metadata[checksum_key] = io::json_text(std::string(checksum_digits, '0'));
  metadata[checked_key] = io::json_text("this header with 16 digits 0 here and the tensors");
  header["__metadata__"] = io::json_object(metadata);
  int64_t at = 0;
  for (size_t i = 0; i < file.tensors.size(); ++i) {
    if (!header.emplace(file.names[i], entry_of(file.tensors[i], at)).second)
      throw std::invalid_argument("the name " + mr::quoted(file.names[i]) +
                                  " cannot be given to a tensor: it is used twice or reserved");
    at += file.tensors[i].bytes();
  }
  std::string text = io::json_object(header);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

struct TensorEntry {
  std::string name;
  io::NumberType type;
  Shape shape;
  int64_t first, last;  // where the tensor's bytes begin and end in the data of the file
};

struct HeaderText {
  io::Json json;
  std::string text;
  int64_t data_start;
};

HeaderText header_text(const io::RegularFile& file) {
  uint64_t length = 0;
  if (file.size() < 8) fail(file.path(), "not a safetensors file: shorter than 8 bytes");
  file.read(0, &length, sizeof length);
  if (length > largest_header || length > static_cast<uint64_t>(file.size()) - 8) {
    fail(file.path(), "not a safetensors file: a header of " + std::to_string(length) + " bytes in a file of " +
                          std::to_string(file.size()));
  }
  std::string text(length, ' ');
  file.read(8, text.data(), static_cast<int64_t>(length));
  try {
    return {io::parse_json(text), text, 8 + static_cast<int64_t>(length)};
  } catch (const std::runtime_error& error) {
    fail(file.path(), std::string("not a safetensors header: it ") + error.what());
  }
}

/// Describes the type of a JSON value, for error messages; for an array, also its number of entries.
std::string kind_of(const Json& value) {
  if (value.is_array()) return "an array of " + std::to_string(value.size());
  if (value.is_null()) return "null";
  const std::string kind = value.type_name();
  return (kind == "object" ? "an " : "a ") + kind;
}

Texts metadata_of(const std::string& path, const Json& header) {
  if (!header.is_object()) fail(path, "not a safetensors header: " + kind_of(header) + ", expected an object");
  const auto found = header.find("__metadata__");
  if (found == header.end()) return {};
  if (!found->is_object()) fail(path, "'__metadata__' is " + kind_of(*found) + ", expected an object of strings");
  Texts texts;
  for (const auto& [name, value] : found->items()) {
    if (!value.is_string())
      fail(path, mr::quoted(name) + " in '__metadata__' is " + kind_of(value) + ", expected a string");
    texts[name] = value.get<std::string>();
  }
  return texts;
}

/// The parsed header of a file. It is checked against the size of the file before tensors are read.
class Header {
 public:
  Header(const io::RegularFile& file, const HeaderText& text)
      : path_(file.path()), data_start_(text.data_start), data_bytes_(file.size() - text.data_start) {
    for (const auto& [name, value] : text.json.items()) {
      if (name != "__metadata__") entries.push_back(entry(name, value));
    }
    need_one_after_another();
  }

  Tensor read(const io::RegularFile& file, const TensorEntry& entry) const {
    int64_t at = data_start_ + entry.first;
    const auto read_next = [&](void* target, int64_t bytes) {
      file.read(at, target, bytes);
      at += bytes;
    };
    try {
      return io::tensor_of_numbers(entry.type, false, entry.shape, read_next);
    } catch (const std::range_error& error) {
      fail(path_, "tensor " + mr::quoted(entry.name) + ' ' + error.what());
    }
  }

  std::vector<TensorEntry> entries;  // the tensors of the file, sorted by name

 private:
  int64_t integer(const std::string& name, const Json& value, const char* what) const {
    // The JSON parser stores an integer beyond int64 as unsigned or as float.
    if (value.is_number_integer() && (!value.is_number_unsigned() || value.get<uint64_t>() <= INT64_MAX))
      return value.get<int64_t>();
    fail(path_, "tensor " + mr::quoted(name) + " has " + (value.is_number() ? value.dump() : kind_of(value)) + " as " +
                    what + ", expected an integer of 64 bits");
  }

  /// Returns member `key` of a tensor in the header. Throws unless it is there and `fits` accepts its type.
  template <class Fits>
  const Json& member(const std::string& name, const Json& tensor, const char* key, const char* expected,
                     Fits fits) const {
    const auto found = tensor.find(key);
    if (found == tensor.end())
      fail(path_, "tensor " + mr::quoted(name) + " has no '" + key + "', expected " + expected);
    if (!fits(*found)) {
      fail(path_, "tensor " + mr::quoted(name) + " has " + kind_of(*found) + " as '" + key + "', expected " + expected);
    }
    return *found;
  }

  io::NumberType type_of(const std::string& name, const Json& tensor) const {
    using enum io::NumberType;
    static const std::map<std::string, io::NumberType> types{
        {"BOOL", boolean},  {"I8", int8},     {"I16", int16},  {"I32", int32},  {"I64", int64},
        {"U8", uint8},      {"U16", uint16},  {"U32", uint32}, {"U64", uint64}, {"F16", float16},
        {"BF16", bfloat16}, {"F32", float32}, {"F64", float64}};
    const char* const expected = "a type such as F32, F16, BF16, F64, I64 or BOOL";
    const auto is_string = [](const Json& x) { return x.is_string(); };
    const auto type = member(name, tensor, "dtype", expected, is_string).get<std::string>();
    const auto found = types.find(type);
    if (found != types.end()) return found->second;
    fail(path_, "tensor " + mr::quoted(name) + " has the type " + mr::quoted(type) + ", expected " + expected);
  }

  Shape shape_of(const std::string& name, const Json& tensor) const {
    const auto is_array = [](const Json& x) { return x.is_array(); };
    Shape shape;
    try {
      for (const Json& n : member(name, tensor, "shape", "an array of sizes", is_array))
        shape.append(integer(name, n, "a size"));
      shape.entries();  // throws if a tensor of these sizes would have too many entries
    } catch (const std::invalid_argument& error) {
      fail(path_, "tensor " + mr::quoted(name) + ": " + error.what());
    }
    return shape;
  }

  TensorEntry entry(const std::string& name, const Json& tensor) const {
    if (!tensor.is_object())
      fail(path_, "tensor " + mr::quoted(name) + " is " + kind_of(tensor) + ", expected an object");
    TensorEntry out{name, type_of(name, tensor), shape_of(name, tensor), 0, 0};
    const auto is_pair = [](const Json& x) { return x.is_array() && x.size() == 2; };
    const Json& offsets = member(name, tensor, "data_offsets", "an array of 2", is_pair);
    out.first = integer(name, offsets[0], "an offset"), out.last = integer(name, offsets[1], "an offset");
    if (out.first < 0 || out.last < out.first || out.last > data_bytes_ ||
        out.last - out.first != out.shape.entries() * io::bytes_of(out.type)) {
      fail(path_, "tensor " + mr::quoted(name) + " of shape " + out.shape.text() + " does not match its data, bytes " +
                      std::to_string(out.first) + " to " + std::to_string(out.last) + " of " +
                      std::to_string(data_bytes_));
    }
    return out;
  }

  /// Throws unless every byte of the data belongs to exactly one tensor, as the format requires.
  void need_one_after_another() const {
    std::vector<const TensorEntry*> order;
    for (const TensorEntry& each : entries) order.push_back(&each);
    std::sort(order.begin(), order.end(), [](const TensorEntry* a, const TensorEntry* b) {
      return std::pair(a->first, a->last) < std::pair(b->first, b->last);
    });
    int64_t at = 0;
    for (const TensorEntry* each : order) {
      if (each->first != at) {
        fail(path_, "tensor " + mr::quoted(each->name) + " begins at byte " + std::to_string(each->first) +
                        " of the data, expected " + std::to_string(at) + ", where the previous tensor ends");
      }
      at = each->last;
    }
    if (at != data_bytes_) fail(path_, std::to_string(data_bytes_ - at) + " bytes of the data belong to no tensor");
  }

  const std::string& path_;
  const int64_t data_start_, data_bytes_;
};

/// Throws if a file has a checksum and it does not match.
void check_sum(const std::string& path, const HeaderText& text, const Header& header, TensorFile& file) {
  const auto found = file.metadata.find(checksum_key), marked = file.metadata.find(checked_key);
  if (found == file.metadata.end() && marked == file.metadata.end()) return;
  std::vector<size_t> order(header.entries.size());
  std::iota(order.begin(), order.end(), 0);
  const auto place_of = [&](size_t i) { return std::pair(header.entries[i].first, header.entries[i].last); };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return place_of(a) < place_of(b); });
  std::vector<const Tensor*> tensors;
  for (const size_t i : order) tensors.push_back(&file.tensors[i]);
  const std::optional<size_t> place = checksum_place(text.text);
  if (!place || marked == file.metadata.end() || checksum_of(text.text, *place, tensors) != found->second) {
    fail(path,
         "is damaged: its checksum does not match. Restore it from a copy; or, if it was edited on purpose, remove '" +
             std::string(checksum_key) + "' and '" + checked_key + "' from its metadata");
  }
  file.metadata.erase(found);
  file.metadata.erase(marked);
}

/// Returns the format without its version: "moonrank model" for "moonrank model 1". Files of other versions may be
/// replaced.
std::string writer_of(const std::string& format) { return format.substr(0, format.rfind(' ')); }

/// Returns the format of a file, damaged or not; "" if it is unknown.
std::string format_of_file(const std::string& path) {
  const io::RegularFile file(path);
  try {
    const Texts metadata = metadata_of(path, header_text(file).json);
    const auto found = metadata.find(format_key);
    return found == metadata.end() ? "" : found->second;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    return "";
  }
}

/// Returns why a file of `format` may not replace the file at `path`; "" if the formats differ in the version at most.
std::string foreign_to(const std::string& format, const std::string& path) {
  const std::string found = format_of_file(path);
  if (writer_of(found) == writer_of(format)) return "";
  return "the file exists and is not a '" + writer_of(format) + "'" +
         (found.empty() ? "" : " but has the format " + mr::quoted(found)) +
         "; a file of another format is never replaced. Pass another path";
}

}  // namespace

void write_safetensors(const std::string& path, const TensorFile& file) {
  std::string header = header_of(file);
  std::vector<Tensor> here;
  std::vector<const Tensor*> tensors;
  for (const Tensor& x : file.tensors) here.push_back(x.to(Device::cpu));
  for (const Tensor& x : here) tensors.push_back(&x);
  const size_t place = checksum_place(header).value();
  header.replace(place, checksum_digits, checksum_of(header, place, tensors));
  const uint64_t length = header.size();
  io::NewFile out(path, [&](const std::string& there) { return foreign_to(file.metadata.at(format_key), there); });
  out.write({reinterpret_cast<const char*>(&length), sizeof length});
  out.write(header);
  for (const Tensor& x : here) out.write({static_cast<const char*>(x.raw()), static_cast<size_t>(x.bytes())});
  out.keep();
}

TensorFile read_safetensors(const std::string& path) {
  const io::RegularFile file(path);
  const HeaderText text = header_text(file);
  TensorFile out{{}, {}, metadata_of(path, text.json)};
  const Header header(file, text);
  for (const TensorEntry& entry : header.entries) {
    out.tensors.push_back(header.read(file, entry));
    out.names.push_back(entry.name);
  }
  check_sum(path, text, header, out);
  return out;
}

}  // namespace mr
