#include "runtime/io/sha256.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nettle/sha2.h>
#include <stdexcept>
#include <vector>

namespace mr::io {
namespace {

class Digest {
 public:
  Digest() { sha256_init(&state_); }
  void add(const void* bytes, size_t count) { sha256_update(&state_, count, static_cast<const uint8_t*>(bytes)); }
  std::string hex() {
    std::array<uint8_t, SHA256_DIGEST_SIZE> raw;
    sha256_digest(&state_, raw.size(), raw.data());
    std::string text;
    for (const uint8_t byte : raw) {
      text += "0123456789abcdef"[byte >> 4];
      text += "0123456789abcdef"[byte & 15];
    }
    return text;
  }

 private:
  sha256_ctx state_;
};

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

std::string sha256(std::string_view bytes) {
  Digest digest;
  digest.add(bytes.data(), bytes.size());
  return digest.hex();
}

std::string sha256_of_file(const std::filesystem::path& path) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  if (!file) throw std::runtime_error(path.string() + ": " + std::strerror(errno));
  Digest digest;
  std::vector<char> buffer(1 << 16);
  while (const size_t count = std::fread(buffer.data(), 1, buffer.size(), file.get())) digest.add(buffer.data(), count);
  if (std::ferror(file.get()) != 0) throw std::runtime_error(path.string() + ": " + std::strerror(errno));
  return digest.hex();
}

}  // namespace mr::io
