#include "runtime/io/sqlite/sqlite.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sqlite3.h>
#include <stdexcept>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <unordered_map>
#include <utility>

#include "kernels/core/threads.h"
#include "runtime/io/at_exit.h"
#include "runtime/io/files/regular_file.h"
#include "runtime/io/sqlite/sqlite_file.h"
#include "runtime/io/sqlite/writer_file.h"
#include "runtime/io/tidily.h"

namespace mr::io {
namespace {

constexpr int patience = 10'000;  // milliseconds to wait in all for another program's lock
constexpr int look = 50;          // milliseconds between two attempts to get a lock

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

/// SQLite's busy handler: retries until a time limit, or until Ctrl-C.
int wait_for_other(void* interrupted, int looks) {
  auto& stop = *static_cast<bool*>(interrupted);
  stop = cpu::take_interrupt();
  if (stop || looks * look >= patience) return 0;
  std::this_thread::sleep_for(std::chrono::milliseconds(look));
  return 1;
}

/// SQLite's progress handler: ends a long query after Ctrl-C.
int ends_question(void* interrupted) {
  auto& stop = *static_cast<bool*>(interrupted);
  stop = stop || cpu::take_interrupt();
  return stop ? 1 : 0;
}

/// Resets a prepared statement at the end of the scope.
struct Reset {
  sqlite3_stmt* statement;
  ~Reset() {
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
  }
};

/// Tests use SQLite's VFS "unix-none" and "unix-dotfile", which cannot use the write-ahead log, as on network folders.
const char* system_name() {
  const char* const name = std::getenv("MOONRANK_SQLITE_VFS");
  return name != nullptr && *name != '\0' ? name : nullptr;
}

/// Runs statements that clean up, without waiting for other programs' locks, and ignores errors.
void tidy(sqlite3* database, const char* statements) {
  sqlite3_progress_handler(database, 0, nullptr, nullptr);
  sqlite3_busy_handler(database, nullptr, nullptr);
  sqlite3_exec(database, statements, nullptr, nullptr, nullptr);
}

/// Removes the empty write-ahead log and its index, which a reader leaves beside the database, because SQLite does not
/// let readers remove them.
void remove_empty_log(const std::string& path) {
  std::error_code unknown;
  if (!is_there(path + "-shm") || std::filesystem::file_size(path + "-wal", unknown) != 0 || unknown) return;
  if (access(path.c_str(), W_OK) != 0) return;
  sqlite3* database = nullptr;
  if (sqlite3_open_v2(uri_of(path).c_str(), &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI, nullptr) == SQLITE_OK) {
    defend(database);
    tidy(database, "SELECT count(*) FROM sqlite_master");
  }
  sqlite3_close(database);
}

std::string time_of(const std::string& path) {
  struct stat there {};
  return stat(path.c_str(), &there) == 0 ? utc_text(there.st_mtime) : "unknown time";
}

constexpr auto view_patience = std::chrono::seconds(10);
constexpr int stale_patience = 1'000;  // milliseconds to wait for a lock that a killed process may have left behind

}  // namespace

/// A connection to a database file, and its state.
struct Database::Open {
  explicit Open(std::string path) : path(std::move(path)), place(followed(this->path)) {}
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;
  ~Open() { close(); }

  void connect(const std::string& name);
  void open_to_read();
  void open_to_write();
  void write_exclusively();
  bool takes_log();
  Rows run(const std::string& sql, const std::vector<Cell>& parameters);
  void close() noexcept;
  void check_writer() const;
  sqlite3_stmt* prepared(const std::string& sql);
  void bind(sqlite3_stmt* statement, const std::vector<Cell>& parameters);
  [[noreturn]] void fail();

  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  };
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::string path, place;  // path of the database as given, and with links resolved
  // writes: the file is opened for writing; logs: it uses the write-ahead log; fixed: it is opened as immutable
  bool writes = false, logs = false, fixed = false;
  bool interrupted = false;  // true if Ctrl-C ended a running statement
  std::string note;
  std::unique_ptr<WriterFile> writer;  // the lock file NAME.writer, if this process writes the database exclusively
  std::unique_ptr<sqlite3, Close> database;
  std::unordered_map<std::string, std::unique_ptr<sqlite3_stmt, Finalize>> statements;
  AtExit at_exit{[this] { close(); }};
};

/// Throws if this process only reads the database and another process has begun to write it exclusively. The connection
/// must then be opened again, to read that process's copy.
void Database::Open::check_writer() const {
  if (!writes && note.empty() && is_there(place + ".writer"))
    throw std::runtime_error(path +
                             " is being written by another process now: open it again to read that process's copy");
}

void Database::Open::fail() {
  if (std::exchange(interrupted, false)) throw cpu::Interrupted();
  check_writer();
  const int code = sqlite3_errcode(database.get());
  if (code == SQLITE_READONLY || code == SQLITE_PERM)
    throw std::runtime_error(path + " cannot be written: it is read-only");
  if (code == SQLITE_CANTOPEN) throw std::runtime_error(path + " cannot be opened");
  if (code == SQLITE_NOTADB) throw std::runtime_error(path + " is not an SQLite database");
  throw std::runtime_error(path + ": " + sqlite3_errmsg(database.get()));
}

void Database::Open::connect(const std::string& name) {
  statements.clear();
  database.reset();
  sqlite3* made = nullptr;
  const int flags = writes ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  const int code = sqlite3_open_v2(name.c_str(), &made, flags | SQLITE_OPEN_URI, system_name());
  database.reset(made);
  if (made == nullptr) throw std::bad_alloc();
  if (code != SQLITE_OK) fail();
  defend(made);
  sqlite3_busy_handler(made, &wait_for_other, &interrupted);
  // Ctrl-C interrupts the statements of a connection that only reads. Those of a connection that writes are short and
  // are not interrupted.
  if (!writes) sqlite3_progress_handler(made, 10'000, &ends_question, &interrupted);
  run("PRAGMA cell_size_check = ON", {});
}

/// Opens a database to read. If a process writes it exclusively, opens its copy, which is renamed into place and never
/// changed.
void Database::Open::open_to_read() {
  const std::string view = place + ".view";
  const auto read_copy = [&](const std::string& why) {
    need_regular(view);
    note = "read from the copy " + path + ".view of " + time_of(view) + ": " + why;
    fixed = true;
    connect(uri_of(view) + "?immutable=1");
  };
  const auto began = std::chrono::steady_clock::now();
  while (const std::optional<std::string> named = writer_of(place)) {
    if (is_there(view)) return read_copy(*named);
    if (std::chrono::steady_clock::now() - began > view_patience)
      throw std::runtime_error(path + " cannot be read: " + *named + ", and there is no copy " + path +
                               ".view to read instead. If that process was killed, run the sweep again");
    cpu::check_interrupt();
    std::this_thread::sleep_for(std::chrono::milliseconds(look));
  }
  connect(uri_of(path));
  // A copy without NAME.writer is left over from a killed process, whose lock may never be released.
  if (is_there(view)) sqlite3_busy_timeout(database.get(), stale_patience);
  try {
    run("SELECT count(*) FROM sqlite_master", {});
    sqlite3_busy_handler(database.get(), &wait_for_other, &interrupted);
  } catch (const std::runtime_error&) {
    // Another process has become the exclusive writer since the check above: start again and read its copy.
    if (is_there(place + ".writer")) return open_to_read();
    // In a read-only folder SQLite cannot create the index of the write-ahead log. If the database has no log, no index
    // is needed, and it is then opened as immutable.
    const int code = sqlite3_errcode(database.get());
    // True if the database is locked or cannot be opened, as when the process that writes it exclusively was killed.
    // Then the copy NAME.view is read. NAME.writer may be missing, because a process that replaces a dead writer
    // removes that file first, and may be killed before it creates its own.
    const bool is_shut = code == SQLITE_BUSY || code == SQLITE_CANTOPEN || code == SQLITE_READONLY;
    if (is_shut && is_there(view)) return read_copy("its writer was killed");
    if ((code != SQLITE_CANTOPEN && code != SQLITE_READONLY) || std::filesystem::exists(path + "-wal")) throw;
    fixed = true;
    connect(uri_of(path) + "?immutable=1");
    run("SELECT count(*) FROM sqlite_master", {});
  }
}

void Database::Open::open_to_write() {
  writes = true;
  // A NAME.view without NAME.writer is left over if a process was killed while it took over as writer. SQLite's lock
  // may then be stale, too.
  if (on_shared_file_system(place) || is_there(place + ".writer") || is_there(place + ".view"))
    return write_exclusively();
  connect(uri_of(path));
  if (sqlite3_db_readonly(database.get(), "main") == 1)
    throw std::runtime_error(path + " cannot be written: it is read-only");
  try {
    run("SELECT count(*) FROM sqlite_master", {});
  } catch (const std::runtime_error&) {
    if (sqlite3_errcode(database.get()) != SQLITE_CANTOPEN) throw;
    // SQLITE_CANTOPEN: the database needs its write-ahead log, but the file system has no shared memory for the log.
    // Exclusive writing needs none.
    write_exclusively();
  }
}

void Database::Open::write_exclusively() {
  writer = std::make_unique<WriterFile>(place);
  // The lock of SQLite's system "unix-dotfile" is a folder, which a killed writer leaves behind.
  if (system_name() != nullptr && std::string(system_name()) == "unix-dotfile") rmdir((place + ".lock").c_str());
  connect(uri_of(path));
  if (sqlite3_db_readonly(database.get(), "main") == 1)
    throw std::runtime_error(path + " cannot be written: it is read-only");
  // Takes SQLite's exclusive lock before the first read of the file: only in that order does the write-ahead log work
  // without shared memory.
  for (const char* const statement : {"PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE", "COMMIT"})
    run(statement, {});
}

/// Turns the write-ahead log on. Returns false if SQLite cannot use it: the journal mode in force is then not "wal".
bool Database::Open::takes_log() {
  const Rows answer = run("PRAGMA journal_mode = WAL", {});
  return std::get<std::string>(answer.columns.at(0).at(0).value) == "wal";
}

void Database::write_ahead() {
  if (!open_->takes_log()) {
    if (open_->writer == nullptr) open_->write_exclusively();
    if (!open_->takes_log())
      throw std::runtime_error(open_->path + " cannot be written: SQLite cannot use its write-ahead log here");
  }
  open_->logs = true;
  for (const char* const setting :
       {"PRAGMA synchronous = NORMAL", "PRAGMA foreign_keys = ON", "PRAGMA wal_autocheckpoint = 1000"}) {
    run(setting, {});
  }
}

Database::Database() : open_(std::make_unique<Open>("a database in memory")) {
  open_->writes = true;
  open_->connect(":memory:");
}

Database::Database(const std::string& path, Mode mode) : open_(std::make_unique<Open>(path)) {
  if (path.empty()) throw std::runtime_error("path is empty, expected the name of a file");
  need_regular_files(path);
  std::error_code unknown;
  if (mode == read && !std::filesystem::exists(path, unknown)) throw std::runtime_error(path + " is not there");
  need_more_than_a_byte(path);
  if (mode == read) {
    open_->open_to_read();
    return;
  }
  need_one_name(path);
  open_->open_to_write();
  if (mode == write) write_ahead();
}

Database::~Database() = default;
Database::Database(Database&& other) noexcept = default;

sqlite3_stmt* Database::Open::prepared(const std::string& sql) {
  auto& kept = statements[sql];
  if (kept != nullptr) return kept.get();
  sqlite3_stmt* made = nullptr;
  if (sqlite3_prepare_v3(database.get(), sql.c_str(), static_cast<int>(sql.size()) + 1, SQLITE_PREPARE_PERSISTENT,
                         &made, nullptr) != SQLITE_OK) {
    statements.erase(sql);
    fail();
  }
  if (made == nullptr) throw std::runtime_error(path + ": a statement is empty");
  kept.reset(made);
  return made;
}

void Database::Open::bind(sqlite3_stmt* statement, const std::vector<Cell>& parameters) {
  if (sqlite3_bind_parameter_count(statement) != static_cast<int>(parameters.size())) {
    throw std::runtime_error(path + ": a statement takes " + std::to_string(sqlite3_bind_parameter_count(statement)) +
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
      // SQLITE_STATIC: SQLite does not copy the text, which stays valid until the statement is reset.
      code = sqlite3_bind_text64(statement, at, text->data(), text->size(), SQLITE_STATIC, SQLITE_UTF8);
    }
    if (code != SQLITE_OK) fail();
  }
}

Rows Database::Open::run(const std::string& sql, const std::vector<Cell>& parameters) {
  if (database == nullptr) throw std::runtime_error(path + " was closed");
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
  check_writer();
  return rows;
}

/// Closes the database. The last connection turns it into one plain file again, without a log beside it.
void Database::Open::close() noexcept {
  if (database == nullptr) return;
  statements.clear();
  if (writes) tidy(database.get(), "ROLLBACK");
  if (logs) tidy(database.get(), "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE");
  database.reset();
  bool views = false;
  tidily([&] { views = writer != nullptr && !writer->lost(); });
  writer.reset();
  tidily([&] {
    for (const char* const ending : {".view", ".view.part", ".view.part-journal", ".view.part.lock"}) {
      if (views) std::remove((place + ending).c_str());
    }
    if (!writes && !fixed) remove_empty_log(place);
  });
}

Rows Database::run(const std::string& sql, const std::vector<Cell>& parameters) { return open_->run(sql, parameters); }
void Database::close() { open_->close(); }

bool Database::moved() const {
  int found = 0;
  sqlite3* const database = open_->database.get();
  if (open_->writer != nullptr && open_->writer->lost()) return true;
  return database != nullptr && sqlite3_file_control(database, "main", SQLITE_FCNTL_HAS_MOVED, &found) == SQLITE_OK &&
         found != 0;
}

int64_t Database::changed() const { return open_->database == nullptr ? 0 : sqlite3_changes64(open_->database.get()); }

int64_t Database::last_id() const {
  return open_->database == nullptr ? 0 : sqlite3_last_insert_rowid(open_->database.get());
}

bool Database::exclusive() const { return open_->writer != nullptr; }

std::optional<std::string> Database::note() const {
  if (open_->note.empty()) return std::nullopt;
  return open_->note;
}

}  // namespace mr::io
