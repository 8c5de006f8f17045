#include "runtime/io/sqlite.h"

#include <array>
#include <chrono>
#include <filesystem>
#include <sqlite3.h>
#include <stdexcept>
#include <thread>
#include <utility>

#include "kernels/core/threads.h"
#include "runtime/io/regular_file.h"

namespace mr::io {
namespace {

constexpr int patience = 10'000;  // milliseconds that another program may lock the file
constexpr int look = 50;          // milliseconds between attempts

/// A path as SQLite's URI, which takes `immutable`: what has a meaning in a URI is escaped.
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

/// Settings for untrusted files: nothing in one is executed, changes how others are read, or exhausts memory.
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

/// SQLite opens these beside the file; if one were a pipe it would wait for a writer.
void need_regular_files(const std::string& path) {
  for (const char* const ending : {"", "-wal", "-shm", "-journal"}) need_regular(path + ending);
}

/// SQLite takes a file of one byte for an empty one, and would replace it.
void need_more_than_a_byte(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::file_size(path, unknown) == 1 && !unknown)
    throw std::runtime_error(path + " is no SQLite database");
}

/// SQLite names its log after the file: writers by two names of one file would each have a log and destroy it.
void need_one_name(const std::string& path) {
  std::error_code unknown;
  const auto names = std::filesystem::hard_link_count(path, unknown);
  if (!unknown && names > 1)
    throw std::runtime_error(path + " cannot be written: it has " + std::to_string(names) +
                             " names (hard links), through which others could write it, too; a copy of it can be");
}

Cell field(sqlite3_stmt* statement, int i) {
  switch (sqlite3_column_type(statement, i)) {
    case SQLITE_INTEGER:
      return {static_cast<int64_t>(sqlite3_column_int64(statement, i))};
    case SQLITE_FLOAT:
      return {sqlite3_column_double(statement, i)};
    case SQLITE_NULL:
      return {};
    default: {
      const auto* const bytes = static_cast<const char*>(sqlite3_column_blob(statement, i));
      return {std::string(bytes == nullptr ? "" : bytes, static_cast<size_t>(sqlite3_column_bytes(statement, i)))};
    }
  }
}

/// Whether to try again to open a file that another program has locked: up to a time limit, and until Ctrl-C.
int wait_for_other(void* interrupted, int looks) {
  auto& stop = *static_cast<bool*>(interrupted);
  stop = cpu::take_interrupt();
  if (stop || looks * look >= patience) return 0;
  std::this_thread::sleep_for(std::chrono::milliseconds(look));
  return 1;
}

/// Ends a long query after Ctrl-C.
int ends_question(void* interrupted) {
  auto& stop = *static_cast<bool*>(interrupted);
  stop = stop || cpu::take_interrupt();
  return stop ? 1 : 0;
}

/// Resets the statement for new parameters, however it ended.
struct Reset {
  sqlite3_stmt* statement;
  ~Reset() {
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
  }
};

}  // namespace

void Database::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }
void Database::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

void Database::fail() const {
  if (std::exchange(*interrupted_, false)) throw cpu::Interrupted();
  const int code = sqlite3_errcode(database_.get());
  if (code == SQLITE_READONLY || code == SQLITE_PERM) throw std::runtime_error(path_ + " cannot be written");
  if (code == SQLITE_CANTOPEN) throw std::runtime_error(path_ + " cannot be opened");
  if (code == SQLITE_NOTADB) throw std::runtime_error(path_ + " is no SQLite database");
  throw std::runtime_error(path_ + ": " + sqlite3_errmsg(database_.get()));
}

void Database::connect(const std::string& name, Mode mode) {
  sqlite3* made = nullptr;
  const int flags = mode == read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  const int code = sqlite3_open_v2(name.c_str(), &made, flags | SQLITE_OPEN_URI, nullptr);
  database_.reset(made);
  if (made == nullptr) throw std::bad_alloc();
  if (code != SQLITE_OK) fail();
  defend(made);
  sqlite3_busy_handler(made, &wait_for_other, interrupted_.get());
  // statements that change the file are short, and are not interrupted
  if (mode == read) sqlite3_progress_handler(made, 10'000, &ends_question, interrupted_.get());
  run("PRAGMA cell_size_check = ON", {});
}

Database::Database() : path_("a database in memory") { connect(":memory:", write); }

Database::Database(const std::string& path, Mode mode) : path_(path) {
  if (path.empty()) throw std::runtime_error("path is empty, expected the name of a file");
  need_regular_files(path);
  std::error_code unknown;
  if (mode == read && !std::filesystem::exists(path, unknown)) throw std::runtime_error(path + " is not there");
  need_more_than_a_byte(path);
  if (mode == write) need_one_name(path);
  connect(uri_of(path), mode);
  if (mode == write) {
    if (sqlite3_db_readonly(database_.get(), "main") == 1) throw std::runtime_error(path_ + " cannot be written");
    for (const char* const setting : {"PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL",
                                      "PRAGMA foreign_keys = ON", "PRAGMA wal_autocheckpoint = 1000"}) {
      run(setting, {});
    }
    return;
  }
  try {
    run("SELECT count(*) FROM sqlite_master", {});
  } catch (const std::runtime_error&) {
    // in a folder that cannot be written the log's index cannot be created; without a log none is needed
    const int code = sqlite3_errcode(database_.get());
    if ((code != SQLITE_CANTOPEN && code != SQLITE_READONLY) || std::filesystem::exists(path + "-wal")) throw;
    statements_.clear();
    connect(uri_of(path) + "?immutable=1", mode);
    run("SELECT count(*) FROM sqlite_master", {});
  }
}

sqlite3_stmt* Database::prepared(const std::string& sql) {
  auto& kept = statements_[sql];
  if (kept != nullptr) return kept.get();
  sqlite3_stmt* made = nullptr;
  if (sqlite3_prepare_v3(database_.get(), sql.c_str(), static_cast<int>(sql.size()) + 1, SQLITE_PREPARE_PERSISTENT,
                         &made, nullptr) != SQLITE_OK) {
    statements_.erase(sql);
    fail();
  }
  if (made == nullptr) throw std::runtime_error(path_ + ": a statement is empty");
  kept.reset(made);
  return made;
}

void Database::bind(sqlite3_stmt* statement, const std::vector<Cell>& parameters) const {
  if (sqlite3_bind_parameter_count(statement) != static_cast<int>(parameters.size())) {
    throw std::runtime_error(path_ + ": a statement takes " + std::to_string(sqlite3_bind_parameter_count(statement)) +
                             " parameters, got " + std::to_string(parameters.size()));
  }
  int at = 0;
  for (const Cell& parameter : parameters) {
    ++at;
    int code = SQLITE_OK;
    if (const auto* const truth = std::get_if<bool>(&parameter.value)) {
      code = sqlite3_bind_int64(statement, at, *truth ? 1 : 0);
    } else if (const auto* const whole = std::get_if<int64_t>(&parameter.value)) {
      code = sqlite3_bind_int64(statement, at, *whole);
    } else if (const auto* const number = std::get_if<double>(&parameter.value)) {
      code = sqlite3_bind_double(statement, at, *number);
    } else if (const auto* const text = std::get_if<std::string>(&parameter.value)) {
      // valid until the statement is reset
      code = sqlite3_bind_text64(statement, at, text->data(), text->size(), SQLITE_STATIC, SQLITE_UTF8);
    }
    if (code != SQLITE_OK) fail();
  }
}

Rows Database::run(const std::string& sql, const std::vector<Cell>& parameters) {
  if (database_ == nullptr) throw std::runtime_error(path_ + " was closed");
  sqlite3_stmt* const statement = prepared(sql);
  const Reset reset{statement};
  bind(statement, parameters);
  Rows rows;
  const int count = sqlite3_column_count(statement);
  for (int i = 0; i < count; ++i) rows.names.emplace_back(sqlite3_column_name(statement, i));
  rows.columns.resize(static_cast<size_t>(count));
  int code = SQLITE_ROW;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    for (int i = 0; i < count; ++i) rows.columns[static_cast<size_t>(i)].push_back(field(statement, i));
  }
  if (code != SQLITE_DONE) fail();
  return rows;
}

void Database::close() {
  statements_.clear();
  database_.reset();
}

bool Database::moved() const {
  int found = 0;
  return database_ != nullptr &&
         sqlite3_file_control(database_.get(), "main", SQLITE_FCNTL_HAS_MOVED, &found) == SQLITE_OK && found != 0;
}

int64_t Database::changed() const { return database_ == nullptr ? 0 : sqlite3_changes64(database_.get()); }

}  // namespace mr::io
