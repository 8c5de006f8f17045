// Only regular files are opened for reading, and a file that is truncated while it is read is an error.
#include "runtime/io/files/regular_file.h"

#include <string_view>
#include <sys/stat.h>

#include "runtime/io/files/checksum.h"
#include "tests/support/data_files.h"

using Catch::Contains;
using mr::io::RegularFile;
using mr::test::Files;

TEST_CASE("RegularFile refuses pipes, devices, folders and dangling links at once") {
  const Files files;
  const std::string pipe = files.folder() + "/pipe", link = files.folder() + "/link", lost = files.folder() + "/lost";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  std::filesystem::create_symlink(pipe, link);
  std::filesystem::create_symlink(files.folder() + "/none", lost);
  for (const std::string& path : {pipe, link, std::string("/dev/zero"), std::string("/dev/full")}) {
    CHECK_THROWS_WITH(RegularFile(path),
                      path + ": is not a regular file (a pipe or a device), expected a file with a size");
    CHECK_THROWS_WITH(mr::io::need_regular(path), Contains("is not a regular file"));
  }
  CHECK_THROWS_WITH(RegularFile(files.folder()), files.folder() + ": is a folder, expected a file");
  CHECK_THROWS_WITH(RegularFile(lost), lost + ": is a link to a file that does not exist");
  CHECK_THROWS_WITH(mr::io::need_regular(lost), Contains("link to a file that does not exist"));
  CHECK_THROWS_WITH(RegularFile(files.folder() + "/none"), Contains("/none: cannot read: No such file"));
  CHECK_NOTHROW(mr::io::need_regular(files.folder() + "/none"));
  std::filesystem::create_symlink(files.folder() + "/circle", files.folder() + "/circle");
  CHECK_THROWS_WITH(mr::io::need_regular(files.folder() + "/circle"), Contains("/circle: Too many levels of symbolic"));
  const std::string long_name = files.folder() + "/" + std::string(300, 'n');
  CHECK_THROWS_WITH(mr::io::need_regular(long_name), long_name + ": File name too long");
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
  CHECK_THROWS_WITH(RegularFile(path, 9), Contains("has 10 bytes, the limit is 9"));
  CHECK_THROWS_WITH(file.read(8, part.data(), 4), link + ": ends after 10 bytes, expected 12");
}

TEST_CASE("RegularFile throws if the file is cut short while it is read") {
  const Files files;
  const std::string path = files.file("a", std::string(3'000'000, 'x'));
  const RegularFile file(path);
  std::filesystem::resize_file(path, 1'000'001);
  std::string all(3'000'000, ' ');
  CHECK_THROWS_WITH(file.read(0, all.data(), 3'000'000),
                    path + ": was cut short while it was read: it had 3000000 bytes");
  CHECK_THROWS_WITH(file.checksum(), Contains("was cut short while it was read"));
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
