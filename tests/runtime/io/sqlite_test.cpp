// The SQLite wrapper returns values as they were stored, never takes parameters for SQL, and names the file in
// errors.
#include "runtime/io/sqlite/sqlite.h"

#include <cmath>
#include <csignal>
#include <fstream>
#include <limits>
#include <sys/resource.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "tests/support/says.h"
#include "tests/support/temporary_folder.h"

namespace mr::io {
namespace {

using Catch::Contains;
using mr::test::says;

std::string in(const test::TemporaryFolder& folder, const char* name) { return (folder.path() / name).string(); }

Cell text(const std::string& value) { return {value}; }
Cell whole(int64_t value) { return {value}; }
Cell real(double value) { return {value}; }

TEST_CASE("Database returns every field as it was stored") {
  const test::TemporaryFolder folder;
  Database database(in(folder, "a.db"), Database::write);
  database.run("CREATE TABLE t (x)", {});
  const std::string odd("a\0b'; DROP TABLE t; --\xc3\xa9", 25);
  const double inf = std::numeric_limits<double>::infinity();
  const double least = std::numeric_limits<double>::denorm_min();
  for (const Cell& cell : {text(odd), text(""), whole(std::numeric_limits<int64_t>::min()), real(0.1), real(inf),
                           real(least), real(3.0), Cell{}}) {
    database.run("INSERT INTO t VALUES (?1)", {cell});
    CHECK(database.changed() == 1);
    const Rows rows = database.run("SELECT x AS y FROM t ORDER BY rowid DESC LIMIT 1", {});
    CHECK(rows.names == std::vector<std::string>{"y"});
    CHECK(rows.columns.at(0).at(0).value == cell.value);
  }
  database.run("INSERT INTO t VALUES (?1)", {Cell{true}});
  database.run("INSERT INTO t VALUES (?1)", {real(std::nan(""))});
  const Rows last = database.run("SELECT x FROM t ORDER BY rowid DESC LIMIT 2", {});
  CHECK(std::holds_alternative<std::monostate>(last.columns[0][0].value));
  CHECK(last.columns[0][1].value == whole(1).value);
  database.run("INSERT INTO t VALUES (CAST(?1 AS BLOB))", {text(std::string("\xff\0\xfe", 3))});
  CHECK(database.run("SELECT x FROM t ORDER BY rowid DESC LIMIT 1", {}).columns[0][0].value ==
        text(std::string("\xff\0\xfe", 3)).value);
  CHECK(database.run("SELECT count(*) FROM t", {}).columns[0][0].value == whole(11).value);
}

TEST_CASE("Database::run throws for wrong statements and parameters, and the database stays usable") {
  const test::TemporaryFolder folder;
  Database database(in(folder, "a.db"), Database::write);
  database.run("CREATE TABLE t (x UNIQUE)", {});
  database.run("INSERT INTO t VALUES (1)", {});
  CHECK_THROWS_WITH(database.run("INSERT INTO t VALUES (1)", {}), Contains("a.db: UNIQUE constraint failed"));
  CHECK_THROWS_WITH(database.run("SELEC", {}), Contains("a.db: near \"SELEC\": syntax error"));
  CHECK_THROWS_WITH(database.run("", {}), Contains("empty"));
  CHECK_THROWS_WITH(database.run("SELECT ?1", {}), says("1 parameters", "got 0"));
  CHECK_THROWS_WITH(database.run("SELECT 1", {Cell{}}), says("0 parameters", "got 1"));
  CHECK(database.run("SELECT x FROM t", {}).columns[0].size() == 1);
  database.close();
  database.close();
  CHECK_THROWS_WITH(database.run("SELECT 1", {}), Contains("was closed"));
  CHECK(database.changed() == 0);
}

TEST_CASE("Database refuses missing files and files that are not databases, and takes any name literally") {
  const test::TemporaryFolder folder;
  CHECK_THROWS_WITH(Database(in(folder, "none.db"), Database::read), Contains("none.db"));
  CHECK_THROWS_WITH(Database(in(folder, "no/folder.db"), Database::write), says("folder.db", "opened"));
  std::ofstream(in(folder, "text")) << std::string(1000, 'x');
  CHECK_THROWS_WITH(Database(in(folder, "text"), Database::read), says("text", "not an SQLite"));
  CHECK_THROWS_WITH(Database(in(folder, "text"), Database::write), says("text", "not an SQLite"));
  std::ofstream(in(folder, "byte")) << 'x';
  CHECK_THROWS_WITH(Database(in(folder, "byte"), Database::read), says("byte", "not an SQLite"));
  CHECK_THROWS_WITH(Database(in(folder, "byte"), Database::write), says("byte", "not an SQLite"));
  CHECK(std::filesystem::file_size(folder.path() / "byte") == 1);
  for (const char* const name : {"a?mode=memory", "50%41#b", ":memory:"}) {
    Database(in(folder, name), Database::write).run("CREATE TABLE t (x)", {});
    CHECK(std::filesystem::exists(folder.path() / name));
  }
  Database reader(in(folder, ":memory:"), Database::read);
  CHECK_THROWS_WITH(reader.run("INSERT INTO t VALUES (1)", {}), Contains("written"));
}

TEST_CASE("Database refuses pipes, devices and folders, also in place of its log files") {
  const test::TemporaryFolder folder;
  for (const Database::Mode mode : {Database::read, Database::write}) {
    const std::string pipe = in(folder, "pipe");
    mkfifo(pipe.c_str(), 0600);
    CHECK_THROWS_WITH(Database(pipe, mode), says("pipe:", "regular file"));
    CHECK_THROWS_WITH(Database("/dev/zero", mode), says("/dev/zero:", "regular file"));
    CHECK_THROWS_WITH(Database(folder.path().string(), mode), Contains("a folder"));
    for (const char* const ending : {"-wal", "-shm", "-journal"}) {
      const std::string path = in(folder, "a.db"), beside = path + ending;
      mkfifo(beside.c_str(), 0600);
      CHECK_THROWS_WITH(Database(path, mode), Contains("is not "));
      std::filesystem::remove(beside);
    }
  }
}

TEST_CASE("Database opens a file with two hard links only for reading") {
  const test::TemporaryFolder folder;
  const std::string path = in(folder, "a.db"), other = in(folder, "b.db");
  Database(path, Database::write).run("CREATE TABLE t (x)", {});
  std::filesystem::create_hard_link(path, other);
  for (const std::string& each : {path, other}) {
    CHECK_THROWS_WITH(Database(each, Database::write), Contains("2 hard links"));
    CHECK_NOTHROW(Database(each, Database::read));
  }
  std::filesystem::remove(other);
  CHECK_NOTHROW(Database(path, Database::write));
}

TEST_CASE("Database::moved detects that its file was moved or replaced") {
  const test::TemporaryFolder folder;
  const std::string path = in(folder, "a.db");
  Database database(path, Database::write);
  database.run("CREATE TABLE t (x)", {});
  CHECK_FALSE(database.moved());
  std::filesystem::rename(path, in(folder, "b.db"));
  CHECK(database.moved());
  std::ofstream(path) << "another";
  CHECK(database.moved());
  std::filesystem::rename(in(folder, "b.db"), path);
  CHECK_FALSE(database.moved());
  CHECK_FALSE(Database().moved());
}

TEST_CASE("Database runs no triggers, views or extensions of its file and protects its schema") {
  const test::TemporaryFolder folder;
  {
    Database database(in(folder, "a.db"), Database::write);
    database.run("CREATE TABLE t (x)", {});
    database.run("CREATE TABLE gone (x)", {});
    database.run("INSERT INTO gone VALUES (1)", {});
    database.run("CREATE TRIGGER sly AFTER INSERT ON t BEGIN DELETE FROM gone; END", {});
    database.run("CREATE VIEW v AS SELECT x FROM gone", {});
  }
  Database database(in(folder, "a.db"), Database::write);
  database.run("INSERT INTO t VALUES (1)", {});
  CHECK(database.run("SELECT x FROM gone", {}).columns[0].size() == 1);
  CHECK_THROWS_WITH(database.run("SELECT x FROM v", {}), Contains("access to view \"v\" prohibited"));
  CHECK_THROWS_WITH(database.run("SELECT load_extension('x')", {}), Contains("not authorized"));
  database.run("PRAGMA writable_schema = ON", {});
  CHECK_THROWS_WITH(database.run("UPDATE sqlite_master SET sql = 'CREATE TABLE t (y)' WHERE name = 't'", {}),
                    Contains("table sqlite_master may not be modified"));
  CHECK_THROWS_WITH(database.run("SELECT \"no column\" FROM t", {}), Contains("no such column"));
  CHECK(database.run("PRAGMA cell_size_check", {}).columns[0][0].value == whole(1).value);
  CHECK(database.run("PRAGMA trusted_schema", {}).columns[0][0].value == whole(0).value);
  CHECK_THROWS_WITH(database.run("SELECT zeroblob(300000000)", {}), Contains("too big"));
}

TEST_CASE("Database without a path is in memory") {
  Database database;
  database.run("CREATE TABLE t (x)", {});
  CHECK(database.run("SELECT x FROM t", {}).columns[0].empty());
}

TEST_CASE("a Database reader sees only committed rows while a writer writes") {
  const test::TemporaryFolder folder;
  Database writer(in(folder, "a.db"), Database::write);
  writer.run("CREATE TABLE t (x)", {});
  Database reader(in(folder, "a.db"), Database::read);
  writer.run("BEGIN IMMEDIATE", {});
  writer.run("INSERT INTO t VALUES (1)", {});
  CHECK(reader.run("SELECT x FROM t", {}).columns[0].empty());
  writer.run("COMMIT", {});
  CHECK(reader.run("SELECT x FROM t", {}).columns[0].size() == 1);
}

TEST_CASE("Database throws at the file size limit and stays intact") {
  const test::TemporaryFolder folder;
  Database database(in(folder, "a.db"), Database::write);
  database.run("CREATE TABLE t (x)", {});
  // as Moonrank's main does, so that writing too much is an error and does not kill the process
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{100'000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  int64_t written = 0;
  std::string said;
  try {
    for (; written < 100; ++written) database.run("INSERT INTO t VALUES (?1)", {text(std::string(10'000, 'x'))});
  } catch (const std::runtime_error& error) {
    said = error.what();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, SIG_DFL);
  CHECK_THAT(said, Contains("a.db: "));
  CHECK(written < 100);
  CHECK(database.run("SELECT count(*) FROM t", {}).columns[0][0].value == whole(written).value);
  CHECK(database.run("PRAGMA integrity_check", {}).columns[0][0].value == text("ok").value);
}

}  // namespace
}  // namespace mr::io
