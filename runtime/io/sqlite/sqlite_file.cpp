#include "runtime/io/sqlite/sqlite_file.h"

#include <array>
#include <filesystem>
#include <sqlite3.h>
#include <stdexcept>
#include <utility>

#include "runtime/io/files/regular_file.h"

namespace mr::io {

std::string uri_of(const std::string& path) {
  std::string out = "file:";
  for (const char c : std::filesystem::absolute(path).string()) {
    constexpr const char* digits = "0123456789ABCDEF";
    if (c == '%' || c == '?' || c == '#') {
      out += {'%', digits[static_cast<unsigned char>(c) / 16], digits[static_cast<unsigned char>(c) % 16]};
    } else {
      out += c;
    }
  }
  return out;
}

void defend(sqlite3* database) {
  constexpr std::array<std::pair<int, int>, 8> settings = {{{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                                            {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                                            {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                                                            {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
                                                            {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
                                                            {SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0},
                                                            {SQLITE_DBCONFIG_DQS_DDL, 0},
                                                            {SQLITE_DBCONFIG_DQS_DML, 0}}};
  for (const auto& [setting, value] : settings) sqlite3_db_config(database, setting, value, static_cast<int*>(nullptr));
  constexpr std::array<std::pair<int, int>, 6> limits = {{{SQLITE_LIMIT_LENGTH, 256 << 20},
                                                          {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
                                                          {SQLITE_LIMIT_COLUMN, 200},
                                                          {SQLITE_LIMIT_EXPR_DEPTH, 100},
                                                          {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
                                                          {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000}}};
  for (const auto& [limit, value] : limits) sqlite3_limit(database, limit, value);
}

void need_regular_files(const std::string& path) {
  for (const char* const ending : {"", "-wal", "-shm", "-journal"}) need_regular(path + ending);
}

void need_more_than_a_byte(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::file_size(path, unknown) == 1 && !unknown)
    throw std::runtime_error(path + " is not an SQLite database");
}

void need_one_name(const std::string& path) {
  std::error_code unknown;
  const auto names = std::filesystem::hard_link_count(path, unknown);
  if (!unknown && names > 1)
    throw std::runtime_error(path + " cannot be written: it has " + std::to_string(names) +
                             " hard links, through which other programs could write it, too. Write to a copy instead");
}

std::string followed(const std::string& path) {
  std::error_code unknown;
  if (!std::filesystem::is_symlink(path, unknown)) return path;
  const std::string target = std::filesystem::canonical(path, unknown).string();
  return unknown ? path : target;
}

bool is_there(const std::string& path) {
  std::error_code unknown;
  return std::filesystem::exists(std::filesystem::symlink_status(path, unknown));
}

}  // namespace mr::io
