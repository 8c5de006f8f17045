// Libraries that are loaded when they are first asked for.
#include "kernels/core/shared_library.h"

#include <catch2/catch.hpp>
#include <zlib.h>

// as headers rename functions
#define MR_CHECKSUM crc32

namespace mr {
namespace {

struct Libz : SharedLibrary {
  Libz() : SharedLibrary("libz.so.1", "checksums are computed by") {}
  MR_FUNCTION(zlibVersion);
  MR_FUNCTION(MR_CHECKSUM);
};

TEST_CASE("functions of a loaded library are called as their header types them", "[kernels][library]") {
  const Libz libz;
  CHECK(std::string(libz.zlibVersion()) == zlibVersion());
  // the check value of this CRC in every catalogue of them
  CHECK(libz.crc32(0, reinterpret_cast<const Bytef*>("123456789"), 9) == 0xCBF43926);
}

TEST_CASE("a library that is not there is an error that says who wants it and what the system says",
          "[kernels][library]") {
  CHECK_THROWS_WITH(SharedLibrary("libmoonrank_has_none.so.7", "moons are counted by"),
                    "moons are counted by libmoonrank_has_none.so.7, which cannot be loaded: "
                    "libmoonrank_has_none.so.7: cannot open shared object file: No such file or directory");
}

TEST_CASE("a function that a library lacks is an error with both names", "[kernels][library]") {
  const SharedLibrary libz("libz.so.1", "checksums are computed by");
  CHECK_THROWS_WITH(libz.symbol("count_moons"),
                    Catch::StartsWith("libz.so.1 lacks 'count_moons': ") && Catch::Contains("undefined symbol"));
}

}  // namespace
}  // namespace mr
