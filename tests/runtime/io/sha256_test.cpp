// Compares SHA-256 digests with the test vectors that NIST publishes with FIPS 180-4.
#include "runtime/io/files/sha256.h"

#include <fstream>

#include <catch2/catch.hpp>

#include "tests/support/temporary_folder.h"

TEST_CASE("sha256 gives the digests of NIST's examples") {
  CHECK(mr::io::sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(mr::io::sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(mr::io::sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(mr::io::sha256(std::string(1'000'000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("sha256_of_file gives the digest of the file's bytes") {
  const mr::test::TemporaryFolder folder;
  const auto path = folder.path() / "a";
  std::ofstream(path, std::ios::binary) << std::string(1'000'000, 'a');
  CHECK(mr::io::sha256_of_file(path) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  CHECK_THROWS_WITH(mr::io::sha256_of_file(folder.path() / "none"),
                    Catch::EndsWith("none: cannot read: No such file or directory"));
}
