// SQLite databases, opened as untrusted files and with the settings of a sweep's store. Values are passed as bound
// parameters.
//
// Several processes on one machine may write a database at once, because SQLite's write-ahead log needs shared memory.
// In a folder that several machines share, or if SQLite cannot use the log, one process writes the database
// exclusively:
//   - NAME.writer names the process that writes (writer_file.h),
//   - that process holds SQLite's exclusive lock, with which the log needs no shared memory,
//   - other processes read NAME.view, a copy that the writer renames into place from time to time (sweep/store.lua).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace mr::io {

/// A value of a parameter or a field. SQLite has no booleans (they are stored as 1 and 0) and no
/// NaN (it becomes NULL).
struct Cell {
  std::variant<std::monostate, bool, int64_t, double, std::string> value;
};

struct Rows {
  std::vector<std::string> names;
  std::vector<std::vector<Cell>> columns;
};

class Database {
 public:
  /// How to open: `claim` opens for writing and takes the locks without changing the file; `write_ahead` turns it into
  /// `write`.
  enum Mode { read, write, claim };
  /// Opens a database; `write` turns on its write-ahead log and foreign keys. Waits some seconds for other programs'
  /// locks. Reading never creates a file. Throws std::runtime_error that names the file if it is not regular, not a
  /// database, or cannot be read or written. Its triggers and views are never run.
  Database(const std::string& path, Mode mode);
  /// A database in memory.
  Database();
  ~Database();
  Database(Database&& other) noexcept;
  Database& operator=(Database&&) = delete;

  void write_ahead();
  /// Runs one statement and returns its rows, by column. `?1`, `?2`, ... stand for the parameters. Throws
  /// std::runtime_error: "PATH: SQLite's message".
  Rows run(const std::string& sql, const std::vector<Cell>& parameters);
  /// Closes the file; using the database later is an error. The last process to close leaves only the database file.
  void close();
  /// Returns true if the file was renamed, removed or replaced since it was opened, so that writes are lost.
  bool moved() const;
  int64_t changed() const;
  /// Returns the id of the last row that was inserted; 0 if there is none.
  int64_t last_id() const;
  /// Returns true if this process writes the database exclusively, so that other processes need a copy to read.
  bool exclusive() const;
  /// Returns a sentence that says that a copy was read instead of the database and why; nothing if the database was
  /// read.
  std::optional<std::string> note() const;

 private:
  struct Open;
  std::unique_ptr<Open> open_;
};

}  // namespace mr::io
