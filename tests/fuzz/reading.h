// Helpers that fuzz targets share: they turn bytes into a file, and decide which errors of a parser are bugs.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace mr::fuzz {

/// A file in memory with the given bytes. It has a path, so that functions that open files can read it.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) {
    if (descriptor_ < 0) throw std::logic_error("no file in memory");
    for (size_t at = 0; at < bytes.size();) {
      const ssize_t written = write(descriptor_, bytes.data() + at, bytes.size() - at);
      if (written <= 0) throw std::logic_error("no room for a file in memory");
      at += static_cast<size_t>(written);
    }
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

inline void need(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

/// Splits a fuzzer's input: its first byte is a set of option bits for the parser, the rest is the text to parse.
inline std::pair<unsigned, std::string_view> split(std::string_view bytes) {
  if (bytes.empty()) return {0, bytes};
  return {static_cast<unsigned char>(bytes[0]), bytes.substr(1)};
}

/// Runs a parser. Errors about the input are expected answers and are caught; logic errors other than
/// std::invalid_argument are thrown on.
template <class Read>
void answered(Read read) {
  try {
    read();
  } catch (const std::logic_error& error) {
    // std::invalid_argument comes from the parser; a plain std::logic_error comes from need() and reports a bug
    if (dynamic_cast<const std::invalid_argument*>(&error) == nullptr) throw;
  } catch (const std::runtime_error&) {
  }
}

template <class Read>
void read_file(std::string_view bytes, Read read) {
  const MemoryFile file(bytes);
  answered([&] { read(file.path()); });
}

}  // namespace mr::fuzz
