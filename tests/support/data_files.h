// Helpers for tests that read files: small files in a temporary folder, plain or gzipped, and the paths of real data
// sets.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <catch2/catch.hpp>
#include <zlib.h>

#include "tests/support/temporary_folder.h"

namespace mr::test {

/// Returns the bytes compressed as one gzip member.
inline std::string gzip(const std::string& text) {
  z_stream z{};
  REQUIRE(deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&z, text.size()) + 32, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&z, Z_FINISH) == Z_STREAM_END);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

/// A temporary folder of files that a test writes. `file` writes a file and returns its path.
class Files {
 public:
  std::string file(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }
  std::string folder() const { return folder_.path().string(); }

 private:
  TemporaryFolder folder_;
};

/// Returns the path of a file of a real data set. If there is no such file, prints a line by which CTest counts the
/// test as skipped, and returns an empty path.
inline std::string real_data(const std::string& name) {
  const char* const chosen = std::getenv("MOONRANK_DATA");
  const std::string own = chosen != nullptr ? chosen : "";
  for (const std::string& folder : {own, std::string(MR_SOURCE_DIR) + "/../shared/data"}) {
    if (!folder.empty() && std::filesystem::exists(folder + "/" + name)) return folder + "/" + name;
  }
  WARN("SKIPPED: no data at MOONRANK_DATA or ../shared/data: " << name);
  return {};
}

}  // namespace mr::test
