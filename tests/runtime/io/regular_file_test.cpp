// Tests that only regular files are opened for reading, and that a file that is truncated while it is read is an error.
#include "runtime/io/files/regular_file.h"

#include <string_view>
#include <sys/stat.h>

#include "runtime/io/files/checksum.h"
#include "tests/support/data_files.h"
#include "tests/support/says.h"

using Catch::Contains;
using mr::io::RegularFile;
using mr::test::Files;
using mr::test::says;

TEST_CASE("RegularFile refuses pipes, devices, folders and dangling links at once") {
  const Files files;
  const std::string pipe = files.folder() + "/pipe", link = files.folder() + "/link", lost = files.folder() + "/lost";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  std::filesystem::create_symlink(pipe, link);
  std::filesystem::create_symlink(files.folder() + "/none", lost);
  for (const std::string& path : {pipe, link, std::string("/dev/zero"), std::string("/dev/full")}) {
    CHECK_THROWS_WITH(RegularFile(path), says(path, "regular file"));
    CHECK_THROWS_WITH(mr::io::need_regular(path), Contains("regular file"));
  }
  CHECK_THROWS_WITH(RegularFile(files.folder()), says(files.folder(), "a folder"));
  CHECK_THROWS_WITH(RegularFile(lost), says(lost, "link"));
  CHECK_THROWS_WITH(mr::io::need_regular(lost), Contains("link"));
  CHECK_THROWS_WITH(RegularFile(files.folder() + "/none"), says("/none:", "No such file"));
  CHECK_NOTHROW(mr::io::need_regular(files.folder() + "/none"));
  std::filesystem::create_symlink(files.folder() + "/circle", files.folder() + "/circle");
  CHECK_THROWS_WITH(mr::io::need_regular(files.folder() + "/circle"), says("/circle:", "symbolic"));
  const std::string long_name = files.folder() + "/" + std::string(300, 'n');
  CHECK_THROWS_WITH(mr::io::need_regular(long_name), says(long_name, "too long"));
}

TEST_CASE("RegularFile reads any range of a file, also through a link, and checks the limit") {
  const Files files;
  const std::string path = files.file("a", "0123456789"), link = files.folder() + "/link";
  std::filesystem::create_symlink(path, link);
  const RegularFile file(link, 10);
  CHECK(file.size() == 10);
  CHECK(file.unchanged());
  std::string part(4, ' ');
  file.read(3, part.data(), 4);
  CHECK(part == "3456");
  CHECK_THROWS_WITH(RegularFile(path, 9), says("10 bytes", "9"));
  CHECK_THROWS_WITH(file.read(8, part.data(), 4), says(link, "10 bytes", "12"));
}

TEST_CASE("RegularFile throws if the file is cut short while it is read") {
  const Files files;
  const std::string path = files.file("a", std::string(3'000'000, 'x'));
  const RegularFile file(path);
  std::filesystem::resize_file(path, 1'000'001);
  std::string all(3'000'000, ' ');
  CHECK_THROWS_WITH(file.read(0, all.data(), 3'000'000), says(path, "cut short", "3000000 bytes"));
  CHECK_THROWS_WITH(file.checksum(), Contains("cut short"));
  CHECK(!file.unchanged());
}

TEST_CASE("RegularFile::checksum equals the checksum of the file's bytes") {
  const Files files;
  for (const size_t size : {size_t{0}, size_t{1}, size_t{1} << 20, (size_t{2} << 20) + 7}) {
    std::string bytes(size, ' ');
    for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 2654435761U >> 24);
    CHECK(RegularFile(files.file("a", bytes)).checksum() == mr::io::checksum(bytes));
  }
}
