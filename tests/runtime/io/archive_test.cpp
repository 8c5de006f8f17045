#include "runtime/io/formats/archive.h"

#include <fstream>
#include <iterator>

#include <catch2/catch.hpp>

#include "kernels/core/threads.h"
#include "tests/support/says.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/zip.h"

namespace fs = std::filesystem;
using Catch::Contains;
using mr::test::says;

namespace {

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

const std::set<std::string> wanted = {"set/a.csv", "set/deep/er/b", "empty", "a", "b", "\xc3\x9c.csv"};

/// Returns a zip file with one entry whose name is marked as UTF-8 (bit 11 of its flags).
std::string test_zip_with_name(const std::string& name) {
  std::string zip = mr::test::make_zip({{std::string(name.size(), 'x'), "1,2\n"}});
  const std::string stand_in(name.size(), 'x');
  for (size_t at = 0; (at = zip.find("PK", at)) != std::string::npos; ++at) {
    const bool local = zip.compare(at + 2, 2, "\x03\x04") == 0, central = zip.compare(at + 2, 2, "\x01\x02") == 0;
    if (local || central) zip[at + (local ? 7 : 9)] |= 8;
  }
  for (size_t at = 0; (at = zip.find(stand_in, at)) != std::string::npos;) zip.replace(at, name.size(), name);
  return zip;
}

struct Place {
  mr::test::TemporaryFolder folder;
  fs::path archive = folder.path() / "a.zip", target = folder.path() / "out" / "here";
  explicit Place(const std::string& bytes) {
    fs::create_directories(target);
    std::ofstream(archive, std::ios::binary) << bytes;
  }
  void unpack(int64_t limit = 1'000'000) const { mr::io::unpack_zip(archive, target, wanted, limit); }
};

}  // namespace

TEST_CASE("unpack_zip keeps UTF-8 names of entries in every locale") {
  std::string zip = test_zip_with_name("\xc3\x9c.csv");
  const Place place(zip);
  place.unpack();
  CHECK(content_of(place.target / "\xc3\x9c.csv") == "1,2\n");
}

TEST_CASE("unpack_zip writes the files of a zip file") {
  const std::string large(300'000, 'x');
  const Place place(mr::test::make_zip({{"set/a.csv", "1,2\n"}, {"set/deep/er/b", large}, {"empty", ""}}));
  place.unpack();
  CHECK(content_of(place.target / "set/a.csv") == "1,2\n");
  CHECK(content_of(place.target / "set/deep/er/b") == large);
  CHECK(fs::file_size(place.target / "empty") == 0);
}

TEST_CASE("unpack_zip refuses entries that lead out of the folder, and links") {
  for (const char* const path : {"../evil", "set/../../evil", "/tmp/moonrank-evil", "set\\..\\evil"}) {
    const Place place(mr::test::make_zip({{path, "evil"}}));
    CHECK_THROWS_WITH(place.unpack(), Contains("a.zip: entry '") && (Contains("out of") || Contains("relative")));
    CHECK(fs::is_empty(place.target));
    CHECK_FALSE(fs::exists(place.folder.path() / "out" / "evil"));
    CHECK_FALSE(fs::exists("/tmp/moonrank-evil"));
  }
  const Place link(mr::test::make_zip({{"way", "-> /etc"}, {"way/file", "x"}}));
  CHECK_THROWS_WITH(link.unpack(), Contains("'way'"));
}

TEST_CASE("unpack_zip stops at the limit of unpacked bytes") {
  const Place place(mr::test::make_zip({{"a", std::string(600, 'x')}, {"b", std::string(600, 'y')}}));
  CHECK_THROWS_WITH(place.unpack(1199), says("'b'", "1199 bytes"));
  fs::remove_all(place.target);
  fs::create_directories(place.target);
  CHECK_NOTHROW(place.unpack(1200));
}

TEST_CASE("unpack_zip refuses a zip file that unpacks to more than 100 times its size") {
  const Place place(mr::test::make_zip({{"a", std::string(70'000'000, 'x')}}));
  CHECK_THROWS_WITH(place.unpack(int64_t{1} << 40), says("'a'", "67108864 bytes") && Contains("100 times"));
}

TEST_CASE("unpack_zip refuses truncated, damaged and foreign files") {
  std::string zip = mr::test::make_zip({{"a", std::string(5000, 'x') + "y"}, {"b", "second"}});
  for (const size_t kept : {zip.size() - 1, zip.size() - 30, zip.size() / 2, size_t{10}, size_t{0}}) {
    const Place place(zip.substr(0, kept));
    CHECK_THROWS_WITH(place.unpack(), Contains("a.zip: "));
    CHECK(fs::is_empty(place.target));
  }
  const size_t data =
      // offset of the first entry's data: after its header of 30 bytes, its name and its extra field
      30 + static_cast<size_t>(zip[26]) + static_cast<size_t>(zip[28]);
  zip[data + 6] = static_cast<char>(zip[data + 6] ^ 0x55);
  CHECK_THROWS_WITH(Place(zip).unpack(), Contains("entry 'a': damaged"));
  CHECK_THROWS_WITH(Place("<html>not a zip</html>").unpack(), Contains("a.zip: "));
}

TEST_CASE("unpack_zip refuses two entries with the same name") {
  CHECK_THROWS_WITH(Place(mr::test::make_zip({{"a", "1"}, {"a", "2"}})).unpack(), Contains("entry 'a': File exists"));
}

TEST_CASE("read_zip names the file and the entry once, and does not hide Ctrl-C") {
  std::string zip = mr::test::make_zip({{"a", std::string(5000, 'x') + "y"}});
  const auto read_all = [](const std::string&, int64_t bytes, const mr::io::ReadEntry& read) {
    std::string content(static_cast<size_t>(bytes), ' ');
    read(content.data(), bytes);
  };
  const Place place(zip);
  CHECK_NOTHROW(mr::io::read_zip(place.archive, read_all));
  mr::cpu::interrupt();
  CHECK_THROWS_AS(mr::io::read_zip(place.archive, read_all), mr::cpu::Interrupted);
  const size_t changed = 36 + static_cast<size_t>(zip[26]) + static_cast<size_t>(zip[28]);
  zip[changed] = static_cast<char>(zip[changed] ^ 0x55);
  const Place damaged(zip);
  try {
    mr::io::read_zip(damaged.archive, read_all);
    FAIL("read a damaged entry");
  } catch (const std::runtime_error& error) {
    const std::string text = error.what(), name = "a.zip: entry 'a': ";
    CHECK_THAT(text, Contains(name + "damaged"));
    CHECK(text.find(name) == text.rfind(name));
  }
}

TEST_CASE("read_zip says what to do about a file that unpacks to more than 100 times its size") {
  const Place place(mr::test::make_zip({{"a", std::string(70'000'000, 'x')}}));
  const auto skip = [](const std::string&, int64_t, const mr::io::ReadEntry&) {};
  CHECK_THROWS_WITH(mr::io::read_zip(place.archive, skip), says("'a'", "100 times", "without compression"));
}
