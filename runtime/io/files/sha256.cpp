#include "runtime/io/files/sha256.h"

#include <algorithm>
#include <array>
#include <nettle/sha2.h>
#include <vector>

#include "kernels/core/threads.h"
#include "runtime/io/files/regular_file.h"

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

}  // namespace

std::string sha256(std::string_view bytes) {
  Digest digest;
  constexpr size_t piece = size_t{1} << 24;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    cpu::check_interrupt();
    const std::string_view next = bytes.substr(at, piece);
    digest.add(next.data(), next.size());
  }
  return digest.hex();
}

std::string sha256_of_file(const std::filesystem::path& path) {
  const RegularFile file(path.string());
  Digest digest;
  std::vector<char> buffer(1 << 16);
  for (int64_t at = 0; at < file.size(); at += static_cast<int64_t>(buffer.size())) {
    cpu::check_interrupt();
    const int64_t count = std::min(file.size() - at, static_cast<int64_t>(buffer.size()));
    file.read(at, buffer.data(), count);
    digest.add(buffer.data(), static_cast<size_t>(count));
  }
  return digest.hex();
}

}  // namespace mr::io
