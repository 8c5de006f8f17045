// Tests of the file that names the process that writes to a database: one writer at a time, stale files, and malformed
// files.
#include "runtime/io/sqlite/writer_file.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>

#include "runtime/io/sqlite/sqlite.h"
#include "tests/support/says.h"
#include "tests/support/temporary_folder.h"

namespace mr::io {
namespace {

using Catch::Contains;
using mr::test::says;
namespace fs = std::filesystem;

std::string content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void write(const std::string& path, const std::string& text, std::chrono::seconds age = std::chrono::seconds(0)) {
  std::ofstream(path) << text;
  fs::last_write_time(path, fs::file_time_type::clock::now() - age);
}

std::string on_another_machine(const std::string& host = "far") {
  return R"({"heartbeat":"2026-11-24 02:00:00 UTC","host":")" + host +
         R"(","id":"0123456789abcdef","machine":"another","process":77,"start":"2026-11-24 01:00:00 UTC","ticks":5})";
}

/// Returns the process id of a process that has ended.
pid_t ended_process() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  return child;
}

TEST_CASE("WriterFile refuses a second writer, names the first, and is removed with it") {
  const test::TemporaryFolder folder;
  const std::string path = (folder.path() / "a.db").string();
  {
    const WriterFile first(path);
    CHECK_THROWS_WITH(WriterFile(path), Contains("a.db") && Contains("process " + std::to_string(getpid())));
    CHECK_THAT(writer_of(path).value_or(""), Contains(std::to_string(getpid())));
    CHECK_FALSE(first.lost());
  }
  CHECK(fs::is_empty(folder.path()));
  CHECK_NOTHROW(WriterFile(path));
}

TEST_CASE("WriterFile of another machine counts as alive for two minutes after its last heartbeat") {
  const test::TemporaryFolder folder;
  const std::string path = (folder.path() / "a.db").string(), file = path + ".writer";
  write(file, on_another_machine(), std::chrono::seconds(100));
  CHECK_THROWS_WITH(WriterFile(path), says("77", "'far'") && Contains("10"));
  CHECK(content(file) == on_another_machine());
  write(file, on_another_machine(), std::chrono::seconds(130));
  const WriterFile taken(path);
  CHECK_FALSE(taken.lost());
  CHECK(content(file).find("far") == std::string::npos);
}

TEST_CASE("WriterFile of this machine counts as alive only while the same process lives") {
  const test::TemporaryFolder folder;
  const std::string path = (folder.path() / "a.db").string(), file = path + ".writer";
  std::string own;
  {
    const WriterFile mine(path);
    own = content(file);
  }
  const std::string number = "\"process\":" + std::to_string(getpid());
  const auto with = [&](const std::string& part, const std::string& other) {
    std::string text = own;
    text.replace(text.find(part), part.size(), other);
    return text;
  };
  // the writer has not updated its file for an hour, but its process still runs
  write(file, own, std::chrono::hours(1));
  CHECK_THROWS_WITH(WriterFile(path), Contains(std::to_string(getpid())));
  write(file, with(number, "\"process\":" + std::to_string(ended_process())));
  CHECK_THAT(writer_of(path).value_or(""), Contains("killed"));
  CHECK_NOTHROW(WriterFile(path));
  // the process id now belongs to a process that started at another time
  write(file, with("\"ticks\":", "\"ticks\":1"));
  CHECK_NOTHROW(WriterFile(path));
}

TEST_CASE("WriterFile that is stale is taken over by exactly one of many threads") {
  const test::TemporaryFolder folder;
  const std::string path = (folder.path() / "a.db").string();
  for (int round = 0; round < 25; ++round) {
    write(path + ".writer", on_another_machine(), std::chrono::seconds(1000));
    std::atomic<int> ready = 0, won = 0, refused = 0;
    std::atomic<bool> end = false;
    std::vector<std::thread> takers;
    for (int i = 0; i < 6; ++i) {
      takers.emplace_back([&] {
        ++ready;
        while (ready < 6) std::this_thread::yield();
        try {
          const WriterFile mine(path);
          ++won;
          while (!end) std::this_thread::sleep_for(std::chrono::milliseconds(1));
          if (mine.lost()) won += 100;
        } catch (const std::runtime_error&) {
          ++refused;
        }
      });
    }
    while (won + refused < 6) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    end = true;
    for (std::thread& each : takers) each.join();
    CHECK(won == 1);
    CHECK(refused == 5);
  }
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("WriterFile can be created in spite of the claim of a killed process") {
  const test::TemporaryFolder folder;
  const std::string path = (folder.path() / "a.db").string();
  write(path + ".writer.claim", "");
  CHECK_NOTHROW(WriterFile(path));
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("WriterFile::lost detects that another writer took over and leaves the other's file") {
  const test::TemporaryFolder folder;
  const std::string path = (folder.path() / "a.db").string();
  {
    const WriterFile first(path);
    write(path + ".writer", on_another_machine());
    CHECK(first.lost());
  }
  CHECK(content(path + ".writer") == on_another_machine());
}

TEST_CASE("WriterFile treats a malformed file as another process until it is stale") {
  const test::TemporaryFolder folder;
  const std::string path = (folder.path() / "a.db").string(), file = path + ".writer";
  for (const std::string& text :
       {std::string(), std::string("garbage"), std::string("[]"), std::string("{\"process\":-1,\"host\":7}"),
        std::string(100'000, '['), std::string("{\"process\":1e300}"), std::string("\0\xff", 2)}) {
    write(file, text);
    CHECK_THROWS_WITH(WriterFile(path), Contains("another process"));
    write(file, text, std::chrono::seconds(1000));
    CHECK_NOTHROW(WriterFile(path));
  }
  write(file, on_another_machine("\\u001b[2J" + std::string(3000, 'x')));
  const std::string said = writer_of(path).value_or("");
  CHECK(said.find('\x1b') == std::string::npos);
  CHECK(said.size() < 300);
  fs::remove(file);
  fs::create_symlink("/etc/passwd", file);
  CHECK_THROWS_WITH(WriterFile(path), Contains("another process"));
  CHECK(fs::is_symlink(file));
}

TEST_CASE("is_shared_file_system recognizes network file systems") {
  for (const uint64_t type : {0x6969U, 0xFF534D42U, 0x0BD00BD0U, 0x47504653U, 0x65735546U}) {
    CHECK(is_shared_file_system(type));
    // f_type, the type of a file system, is a signed number on some systems and is then sign-extended
    CHECK(is_shared_file_system(0xFFFFFFFF00000000U | type));
  }
  for (const uint64_t type : {0xEF53U, 0x58465342U, 0x9123683EU, 0x01021994U, 0x794C7630U, 0x2FC12FC1U})
    CHECK_FALSE(is_shared_file_system(type));  // the types of ext4, XFS, Btrfs, tmpfs, overlay and ZFS
}

std::string mode_of(Database& database) {
  return std::get<std::string>(database.run("PRAGMA journal_mode", {}).columns.at(0).at(0).value);
}

TEST_CASE("Database is written exclusively with a log if SQLite cannot share the log") {
  const std::string system = GENERATE("unix-none", "unix-dotfile");
  const test::ScopedVariable variable("MOONRANK_SQLITE_VFS", system);
  const test::TemporaryFolder folder;
  const std::string path = (folder.path() / "a.db").string();
  {
    Database writer(path, Database::write);
    CHECK(writer.exclusive());
    CHECK(mode_of(writer) == "wal");
    writer.run("CREATE TABLE t (x)", {});
    CHECK_THROWS_WITH(Database(path, Database::write), Contains("process " + std::to_string(getpid())));
    writer.run("VACUUM INTO ?1", {Cell{path + ".view"}});
    writer.run("INSERT INTO t VALUES (1)", {});
    Database reader(path, Database::read);
    CHECK(reader.note().has_value());
    CHECK(reader.run("SELECT x FROM t", {}).columns[0].empty());
  }
  Database reader(path, Database::read);
  CHECK_FALSE(reader.note());
  CHECK(reader.run("SELECT x FROM t", {}).columns[0].size() == 1);
  const Database writer(path, Database::write);
  CHECK_THROWS_WITH(reader.run("SELECT x FROM t", {}), Contains("being written"));
}

TEST_CASE("Database on a local disk has several writers at once and leaves one file when all have closed") {
  const test::TemporaryFolder folder;
  const std::string path = (folder.path() / "a.db").string();
  {
    Database first(path, Database::write), second(path, Database::write), reader(path, Database::read);
    CHECK_FALSE(first.exclusive());
    CHECK(mode_of(first) == "wal");
    first.run("CREATE TABLE t (x)", {});
    second.run("INSERT INTO t VALUES (1)", {});
    CHECK(reader.run("SELECT x FROM t", {}).columns[0].size() == 1);
  }
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
  Database first(path, Database::write), reader(path, Database::read);
  first.run("INSERT INTO t VALUES (2)", {});
  first.close();
  CHECK(reader.run("SELECT x FROM t", {}).columns[0].size() == 2);
  reader.close();  // the last open connection is a reader; its close must also remove the log
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
}

}  // namespace
}  // namespace mr::io
