#include <fstream>
#include <iterator>
#include <stdexcept>

#include "tests/fuzz/seeds.h"

namespace mr::fuzz {

std::vector<std::string> corpus(const std::string& parser) {
  std::ifstream file(MR_SOURCE_DIR "/tests/fuzz/corpus/" + parser, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  std::vector<std::string> found;
  for (size_t at = 0; at < bytes.size();) {
    size_t size = 0;
    for (size_t i = 0; i < 4 && at < bytes.size(); ++i, ++at)
      size |= size_t{static_cast<unsigned char>(bytes[at])} << 8 * i;
    if (size > bytes.size() - at) throw std::runtime_error("tests/fuzz/corpus/" + parser + " ends within an input");
    found.push_back(bytes.substr(at, size));
    at += size;
  }
  return found;
}

}  // namespace mr::fuzz
