#include "tests/fuzz/store_targets.h"

#include <filesystem>
#include <fstream>

#include "runtime/io/sqlite/sqlite.h"
#include "tests/fuzz/checksums.h"
#include "tests/fuzz/reading.h"
#include "tests/support/temporary_folder.h"

namespace mr::fuzz {
namespace {

constexpr unsigned byte = 8;  // bits

void write_file(const std::string& path, std::string_view bytes) { std::ofstream(path, std::ios::binary) << bytes; }

void read_all(io::Database& database) {
  database.run("SELECT name, sql FROM sqlite_master", {});
  database.run("SELECT * FROM trials LIMIT 100", {});
}

/// Writes to a store as a resumed sweep does: updates trials and inserts one.
void change(io::Database& database) {
  database.run("BEGIN IMMEDIATE", {});
  database.run("UPDATE trials SET value = ?1, number = number + ?2, params = ?3, name = ?4 WHERE id = ?5",
               {{0.5}, {int64_t{1}}, {std::string("{}")}, {}, {true}});
  database.run("INSERT INTO trials (number, params) VALUES (7, '{}')", {});
  database.run("COMMIT", {});
}

void open_files(const StoreBytes& store) {
  static const test::TemporaryFolder folder;
  const bool marks = (store.how & StoreBytes::marks_in_name) != 0;
  const std::string path = (folder.path() / (marks ? "a%b?c#d.db" : "a.db")).string(), second = path + ".second";
  for (const char* const ending : {"", "-wal", "-shm", "-journal", ".second"}) std::filesystem::remove(path + ending);
  write_file(path, store.file);
  if ((store.how & StoreBytes::has_log) != 0) write_file(path + "-wal", with_log_checksums(store.log));
  if ((store.how & StoreBytes::two_names) != 0) std::filesystem::create_hard_link(path, second);
  answered([&] {
    const bool write = (store.how & StoreBytes::write) != 0;
    io::Database database(path, write ? io::Database::write : io::Database::read);
    read_all(database);
    if (write) change(database);
  });
}

}  // namespace

std::string StoreBytes::text() const {
  std::string out{static_cast<char>(how)};
  if ((how & has_log) != 0) out += {static_cast<char>(file.size()), static_cast<char>(file.size() >> byte)};
  return out + file + log;
}

StoreBytes StoreBytes::of(std::string_view bytes) {
  auto [how, rest] = split(bytes);
  StoreBytes found{.how = how, .file = {}, .log = {}};
  size_t size = rest.size();
  if ((how & has_log) != 0 && size >= 2) {
    size = static_cast<unsigned char>(rest[0]) | size_t{static_cast<unsigned char>(rest[1])} << byte;
    rest.remove_prefix(2);
  }
  found.file = rest.substr(0, size);
  found.log = rest.substr(found.file.size());
  return found;
}

void store(std::string_view bytes) {
  const StoreBytes found = StoreBytes::of(bytes);
  if (found.how != 0) return open_files(found);
  read_file(found.file, [](const std::string& path) {
    io::Database database(path, io::Database::read);
    read_all(database);
  });
}

}  // namespace mr::fuzz
