// Tests of SharedLibrary, which loads a shared library when it is first used.
#include "kernels/core/shared_library.h"

#include <catch2/catch.hpp>
#include <zlib.h>

// A macro with the name of a library function: some libraries' headers rename functions in this way, and SharedLibrary
// must load the renamed function.
#define MR_CHECKSUM crc32

namespace mr {
namespace {

struct Libz : SharedLibrary {
  Libz() : SharedLibrary("libz.so.1", "checksums are computed by") {}
  MR_FUNCTION(zlibVersion);
  MR_FUNCTION(MR_CHECKSUM);
};

TEST_CASE("SharedLibrary calls functions of a loaded library with their declared types", "[kernels][library]") {
  const Libz libz;
  CHECK(std::string(libz.zlibVersion()) == zlibVersion());
  // the published check value of CRC-32: the checksum of the text "123456789"
  CHECK(libz.crc32(0, reinterpret_cast<const Bytef*>("123456789"), 9) == 0xCBF43926);
}

TEST_CASE("SharedLibrary names the user of a library that cannot be loaded and the system's error",
          "[kernels][library]") {
  CHECK_THROWS_WITH(SharedLibrary("libmoonrank_has_none.so.7", "moons are counted by"),
                    "moons are counted by libmoonrank_has_none.so.7, which cannot be loaded: "
                    "libmoonrank_has_none.so.7: cannot open shared object file: No such file or directory");
}

TEST_CASE("SharedLibrary names the package of a library that Debian has", "[kernels][library]") {
  using Catch::Contains;
  CHECK_THROWS_WITH(SharedLibrary("libxgboost.so.none", "trees"), Contains("libxgboost0"));
  CHECK_THROWS_WITH(SharedLibrary("/none/libmpi.so.40", "processes"), Contains("openmpi-bin"));
  CHECK_THROWS_WITH(SharedLibrary("libpng16.so.none", "pictures"), Contains("libpng16-16"));
}

TEST_CASE("SharedLibrary names the library and the function if the function is missing", "[kernels][library]") {
  const SharedLibrary libz("libz.so.1", "checksums are computed by");
  CHECK_THROWS_WITH(libz.symbol("count_moons"),
                    Catch::StartsWith("libz.so.1 lacks 'count_moons': ") && Catch::Contains("undefined symbol"));
}

}  // namespace
}  // namespace mr
