// Tests of NewFile: a file is written completely or not at all, never over another writer's file, and never through a
// dangling link.
#include "runtime/io/files/new_file.h"

#include <csignal>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "tests/support/command.h"
#include "tests/support/data_files.h"
#include "tests/support/says.h"

using Catch::Contains;
using mr::io::NewFile;
using mr::io::replace_any;
using mr::io::write_file;
using mr::test::Files;
using mr::test::read_text;
using mr::test::says;

namespace fs = std::filesystem;

namespace {

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

using Names = std::vector<std::string>;

/// Returns the paths of a null and a full device. As root, who could replace /dev/null and /dev/full, these are new
/// devices in `folder`, or none if the file system does not allow devices.
Names devices(const std::string& folder) {
  if (geteuid() != 0) return {"/dev/null", "/dev/full"};
  const std::string null = folder + "/null", full = folder + "/full";
  const bool made = mknod(null.c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0 &&
                    mknod(full.c_str(), S_IFCHR | 0600, makedev(1, 7)) == 0;
  return made ? Names{null, full} : Names{};
}

}  // namespace

TEST_CASE("NewFile makes the file visible only after keep") {
  const Files files;
  const std::string path = files.folder() + "/a";
  {
    NewFile file(path, &replace_any);
    file.write("one ");
    CHECK(!fs::exists(path));
    CHECK(names_in(files.folder()).size() == 1);
    file.write("two");
    file.keep();
  }
  CHECK(read_text(path) == "one two");
  CHECK(names_in(files.folder()) == Names{"a"});
  { NewFile(path, &replace_any).write("lost"); }
  CHECK(read_text(path) == "one two");
  CHECK(names_in(files.folder()) == Names{"a"});
}

TEST_CASE("write_file replaces a file and keeps its permissions, and open readers keep the old content") {
  const Files files;
  const std::string path = files.file("a", "old");
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  std::ifstream reader(path);
  write_file(path, {"n", "ew"}, &replace_any);
  CHECK(read_text(path) == "new");
  CHECK(std::string(std::istreambuf_iterator<char>(reader), {}) == "old");
  CHECK(fs::status(path).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("write_file never replaces pipes, devices, folders and dangling links") {
  const Files files;
  const std::string pipe = files.folder() + "/pipe", to_pipe = files.folder() + "/to_pipe",
                    lost = files.folder() + "/lost";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  fs::create_symlink(pipe, to_pipe);
  fs::create_symlink(files.folder() + "/none", lost);
  Names never = devices(files.folder());
  const Names before = names_in(files.folder());
  never.insert(never.end(), {pipe, to_pipe});
  for (const std::string& path : never)
    CHECK_THROWS_WITH(write_file(path, {"x"}, &replace_any), says(path, "regular file"));
  CHECK_THROWS_WITH(write_file(files.folder(), {"x"}, &replace_any), says("write", "folder"));
  CHECK_THROWS_WITH(write_file(lost, {"x"}, &replace_any), Contains("link"));
  CHECK_THROWS_WITH(write_file(files.folder() + "/no/a", {"x"}, &replace_any), Contains("No such file or directory"));
  CHECK(names_in(files.folder()) == before);
  CHECK(fs::is_fifo(pipe));
  for (const std::string& path : never) CHECK_FALSE(fs::is_regular_file(path));
}

TEST_CASE("write_file calls its objection before it writes, and does not ask for an empty file") {
  const Files files;
  const std::string path = files.file("a", "mine"), empty = files.file("empty", "");
  const auto never = [](const std::string& there) { return "it is " + there; };
  CHECK_THROWS_WITH(write_file(path, {"x"}, never), path + ": cannot write: it is " + path);
  CHECK(read_text(path) == "mine");
  CHECK(names_in(files.folder()) == Names{"a", "empty"});
  write_file(empty, {"x"}, never);
  CHECK(read_text(empty) == "x");
}

TEST_CASE("write_file through a link replaces the file that the link points to") {
  const Files files;
  const std::string path = files.file("there/a", "old"), link = files.folder() + "/link";
  fs::create_symlink("there/a", link);
  write_file(link, {"new"}, &replace_any);
  CHECK(fs::is_symlink(link));
  CHECK(read_text(path) == "new");
  CHECK(names_in(files.folder() + "/there") == Names{"a"});
}

TEST_CASE("NewFile chooses temporary names that cannot be guessed") {
  const Files files;
  const std::string victim = files.file("victim", "precious"), path = files.folder() + "/a";
  fs::create_symlink(victim, path + ".tmp" + std::to_string(getpid()));
  NewFile first(path, &replace_any), second(path, &replace_any);
  CHECK(first.temporary() != second.temporary());
  first.write("x");
  first.keep();
  CHECK(read_text(victim) == "precious");
  CHECK(read_text(path) == "x");
}

TEST_CASE("write_file removes stale temporary files of killed writers and no other files") {
  const Files files;
  const auto old = [&](const std::string& name) {
    const std::string path = files.file(name, "half of a file");
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::minutes(5));
    return path;
  };
  const std::string abandoned = old(".moonrank-1.tmp"), other = old("moonrank-2.tmp"), locked = old(".moonrank-3.tmp"),
                    fresh = files.file(".moonrank-4.tmp", "half");
  fs::create_symlink(other, files.folder() + "/.moonrank-5.tmp");
  const int file = open(locked.c_str(), O_RDONLY);
  REQUIRE(flock(file, LOCK_EX) == 0);
  write_file(files.folder() + "/a", {"text"}, &replace_any);
  CHECK(names_in(files.folder()) ==
        Names{".moonrank-3.tmp", ".moonrank-4.tmp", ".moonrank-5.tmp", "a", "moonrank-2.tmp"});
  close(file);
  NewFile half(files.folder() + "/b", &replace_any);
  const int theirs = open(half.temporary().c_str(), O_RDONLY);
  CHECK(flock(theirs, LOCK_EX | LOCK_NB) != 0);
  close(theirs);
}

TEST_CASE("write_file leaves nothing behind if the file size limit is exceeded") {
  const Files files;
  // as Moonrank's main does, so that writing too much is an error and does not kill the process
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit was{};
  getrlimit(RLIMIT_FSIZE, &was);
  const rlimit small{1000, was.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  std::string said;
  try {
    write_file(files.folder() + "/a", {std::string(5000, 'x')}, &replace_any);
  } catch (const std::runtime_error& error) {
    said = error.what();
  }
  setrlimit(RLIMIT_FSIZE, &was);
  std::signal(SIGXFSZ, before);
  CHECK_THAT(said, says("/a:", "File too large"));
  CHECK(names_in(files.folder()).empty());
}
