#include "runtime/io/formats/npy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <functional>
#include <set>

#include "runtime/io/files/new_file.h"
#include "runtime/io/files/regular_file.h"
#include "runtime/io/files/text_file.h"
#include "runtime/io/formats/archive.h"
#include "runtime/io/formats/number_types.h"

namespace mr::io {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr uint32_t largest_header = 1 << 20;

/// Reads the next bytes of an array file.
using Read = std::function<void(void* target, int64_t bytes)>;

struct Header {
  NumberType type = NumberType::float64;
  bool swapped = false, fortran = false;
  Shape shape;
};

/// Parses the header of an .npy file, which is the text of a Python dictionary with three entries.
class HeaderText {
 public:
  explicit HeaderText(std::string_view text) : rest_(text) {}

  Header parsed() {
    Header header;
    expect('{');
    std::set<std::string> seen;
    while (!take('}')) {
      const std::string key = quoted_text();
      if (!seen.insert(key).second) fail("has '" + key + "' twice");
      expect(':');
      if (key == "descr") {
        set_type(header);
      } else if (key == "fortran_order") {
        header.fortran = truth();
      } else if (key == "shape") {
        header.shape = shape();
      } else {
        fail("has the unknown entry " + mr::quoted(key));
      }
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    if (seen.size() != 3) fail("lacks 'descr', 'fortran_order' or 'shape'");
    return header;
  }

 private:
  [[noreturn]] static void fail(const std::string& why) { throw std::runtime_error("the header of the array " + why); }

  void skip_blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n')) rest_.remove_prefix(1);
  }
  bool take(char c) {
    skip_blanks();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(std::string("is not a dictionary of NumPy: expected '") + c + "'");
  }
  std::string quoted_text() {
    expect('\'');
    const size_t end = rest_.find('\'');
    if (end == std::string_view::npos) fail("has a text without an end");
    std::string text(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return text;
  }
  bool truth() {
    skip_blanks();
    for (const std::string_view word : {"True", "False"}) {
      if (rest_.substr(0, word.size()) != word) continue;
      rest_.remove_prefix(word.size());
      return word == "True";
    }
    fail("has no True or False as 'fortran_order'");
  }
  Shape shape() {
    Shape sizes;
    expect('(');
    while (!take(')')) {
      skip_blanks();
      int64_t size = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
      if (error != std::errc()) fail("has no number as a size");
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
      sizes.append(size);
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return sizes;
  }

  void set_type(Header& header) {
    skip_blanks();
    if (!rest_.empty() && rest_.front() == '[') fail("has records, expected numbers");
    const std::string text = quoted_text();
    if (text == "|O" || text == "O") {
      fail("has Python objects, which are pickled: reading them would run code. Save numbers instead");
    }
    static const std::array<std::pair<std::string_view, NumberType>, 12> types{{{"b1", NumberType::boolean},
                                                                                {"i1", NumberType::int8},
                                                                                {"i2", NumberType::int16},
                                                                                {"i4", NumberType::int32},
                                                                                {"i8", NumberType::int64},
                                                                                {"u1", NumberType::uint8},
                                                                                {"u2", NumberType::uint16},
                                                                                {"u4", NumberType::uint32},
                                                                                {"u8", NumberType::uint64},
                                                                                {"f2", NumberType::float16},
                                                                                {"f4", NumberType::float32},
                                                                                {"f8", NumberType::float64}}};
    const bool has_order = !text.empty() && std::string_view("<>=|").find(text.front()) != std::string_view::npos;
    const std::string_view name = std::string_view(text).substr(has_order ? 1 : 0);
    const auto* const found =
        std::find_if(types.begin(), types.end(), [&](const auto& each) { return each.first == name; });
    if (found == types.end()) {
      fail("has the type " + mr::quoted(text) +
           ", expected integers, booleans or floating-point numbers of 16, 32 or 64 bits");
    }
    header.type = found->second;
    const bool is_little = std::endian::native == std::endian::little;
    header.swapped = has_order && bytes_of(header.type) > 1 && text.front() == (is_little ? '>' : '<');
  }

  std::string_view rest_;
};

Header header_of(const Read& read) {
  std::string start(magic.size() + 2, '\0');
  read(start.data(), static_cast<int64_t>(start.size()));
  if (start.substr(0, magic.size()) != magic) throw std::runtime_error("is not an array of NumPy (.npy)");
  const int version = start[magic.size()];
  unsigned char bytes[4] = {};
  if (version < 1 || version > 3)
    throw std::runtime_error("is of version " + std::to_string(version) + " of .npy, expected 1 to 3");
  read(bytes, version == 1 ? 2 : 4);
  const uint32_t length = bytes[0] | bytes[1] << 8 | bytes[2] << 16 | static_cast<uint32_t>(bytes[3]) << 24;
  if (length > largest_header)
    throw std::runtime_error("has a header of " + std::to_string(length) + " bytes, expected at most " +
                             std::to_string(largest_header));
  std::string text(length, ' ');
  read(text.data(), length);
  return HeaderText(text).parsed();
}

Shape reversed(const Shape& shape) {
  Shape out;
  for (int d = shape.dims() - 1; d >= 0; --d) out.append(shape[d]);
  return out;
}

/// Returns the entries of a tensor, with the order of its dimensions reversed.
Tensor transposed(const Tensor& tensor) {
  Tensor out = Tensor::empty(reversed(tensor.shape()), tensor.dtype());
  const Shape& shape = out.shape();
  with_any(tensor.dtype(), [&]<class T>() {
    const Span<T> from = tensor.span<T>(), to = out.span<T>();
    std::array<int64_t, Shape::max_dims> at{};
    for (int64_t i = 0; i < out.entries(); ++i) {
      int64_t place = 0;
      for (int d = shape.dims() - 1; d >= 0; --d) place = place * shape[d] + at[static_cast<size_t>(d)];
      to[i] = from[place];
      for (int d = shape.dims() - 1; d >= 0 && ++at[static_cast<size_t>(d)] == shape[d]; --d)
        at[static_cast<size_t>(d)] = 0;
    }
  });
  return out;
}

/// Reads one array. `left` is the number of bytes that follow in the file, if it is known: it is checked before memory
/// is allocated.
Tensor array_of(const Read& read, const std::function<int64_t()>& left) {
  const Header header = header_of(read);
  const int64_t bytes = header.shape.entries() * bytes_of(header.type);
  if (left && left() != bytes) {
    throw std::runtime_error("has " + std::to_string(left()) + " bytes of numbers, expected " + std::to_string(bytes) +
                             " for the shape " + header.shape.text());
  }
  const Shape shape = header.fortran ? reversed(header.shape) : header.shape;
  const Tensor tensor = tensor_of_numbers(header.type, header.swapped, shape, read);
  return header.fortran ? transposed(tensor) : tensor;
}

std::string header_text(const Tensor& tensor) {
  std::string shape;
  for (int d = 0; d < tensor.dims(); ++d) shape += std::to_string(tensor.size(d)) + (d + 1 < tensor.dims() ? ", " : "");
  if (tensor.dims() == 1) shape += ",";
  const char* const type = tensor.dtype() == Dtype::float32 ? "<f4" : tensor.dtype() == Dtype::float64 ? "<f8" : "<i8";
  std::string text = std::string("{'descr': '") + type + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  constexpr size_t alignment = 64, before = 10;
  text.resize((before + text.size() + 1 + alignment - 1) / alignment * alignment - before - 1, ' ');
  text += '\n';
  std::string out(magic);
  out += {'\x01', '\0', static_cast<char>(text.size() & 0xFF), static_cast<char>(text.size() >> 8)};
  return out + text;
}

/// Returns a check for replacing files: it objects to replacing an existing file whose first bytes are not `start`, the
/// signature of the format.
Objection only_replaces(std::string_view start, const char* what) {
  return [=](const std::string& path) -> std::string {
    const RegularFile file(path);
    std::string found(std::min<size_t>(start.size(), static_cast<size_t>(file.size())), '\0');
    file.read(0, found.data(), static_cast<int64_t>(found.size()));
    return found == start ? "" : std::string("the file exists and is not ") + what;
  };
}

[[noreturn]] void fail(const std::string& path, const std::exception& error) {
  throw std::runtime_error(path + ": " + error.what());
}

constexpr std::string_view ending = ".npy";

}  // namespace

Tensor read_npy(const std::string& path) {
  const RegularFile file(path);
  int64_t at = 0;
  const Read read = [&](void* target, int64_t bytes) {
    if (bytes > file.size() - at) throw std::runtime_error("ends early: it is not a whole array of NumPy (.npy)");
    file.read(at, target, bytes);
    at += bytes;
  };
  try {
    return array_of(read, [&] { return file.size() - at; });
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    fail(path, error);
  }
}

void write_npy(const std::string& path, const Tensor& tensor) {
  const Tensor here = tensor.to(Device::cpu);
  const std::string_view numbers(static_cast<const char*>(here.raw()), static_cast<size_t>(here.bytes()));
  write_file(path, {header_text(here), numbers}, only_replaces(magic, "an array of NumPy (.npy)"));
}

NamedTensors read_npz(const std::string& path) {
  NamedTensors out;
  read_zip(path, [&](const std::string& name, int64_t size, const ReadEntry& read) {
    if (name.size() <= ending.size() || name.substr(name.size() - ending.size()) != ending)
      throw std::runtime_error("is not an array (.npy)");
    int64_t left = size;
    const Read next = [&](void* target, int64_t bytes) {
      if (bytes > left) throw std::runtime_error("ends early");
      read(target, bytes);
      left -= bytes;
    };
    out.tensors.push_back(array_of(next, [&] { return left; }));
    std::string own = name.substr(0, name.size() - ending.size());
    if (std::find(out.names.begin(), out.names.end(), own) != out.names.end())
      throw std::runtime_error(
          "the archive has two arrays with this name. Write it again with a different name for each");
    out.names.push_back(std::move(own));
  });
  return out;
}

void write_npz(const std::string& path, const NamedTensors& tensors) {
  std::vector<Tensor> here;
  std::vector<std::string> headers;
  std::vector<ZipEntry> entries;
  for (size_t i = 0; i < tensors.tensors.size(); ++i) {
    here.push_back(tensors.tensors[i].to(Device::cpu));
    headers.push_back(header_text(here[i]));
  }
  for (size_t i = 0; i < here.size(); ++i) {
    const std::string_view numbers(static_cast<const char*>(here[i].raw()), static_cast<size_t>(here[i].bytes()));
    entries.push_back({tensors.names[i] + std::string(ending), {headers[i], numbers}});
  }
  write_zip(path, entries, only_replaces("PK", "a zip file"));
}

}  // namespace mr::io
