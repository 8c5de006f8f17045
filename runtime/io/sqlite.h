// SQLite databases: opened as untrusted and with the settings of a store, read and written through bound parameters.
//
// Several processes may write a database at once, as long as they share memory (SQLite's write-ahead log needs it). In
// a folder that several machines share, and where SQLite refuses the log, the database is written exclusively:
//   - NAME.writer names the one process that writes it (writer_file.h),
//   - that process holds SQLite's exclusive lock, with which the log needs no shared memory,
//   - others read NAME.view, a copy that the writer renames into place from time to time (sweep/store.lua).
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
  /// `claim` opens for writing and takes the locks, but does not yet change the file; `write_ahead` then completes it
  /// to `write`.
  enum Mode { read, write, claim };
  /// Write-ahead log, foreign keys on, and some seconds of waiting for other programs' locks. Reading never creates a
  /// file; one that is not regular, is no database, or cannot be read or written, is a std::runtime_error that names
  /// it. Triggers and views in it are never run.
  Database(const std::string& path, Mode mode);
  /// One in memory.
  Database();
  ~Database();
  Database(Database&& other) noexcept;
  Database& operator=(Database&&) = delete;

  void write_ahead();
  /// Runs one statement to its end and returns its rows, by column. `?1`, `?2`, ... stand for the parameters. Failures
  /// are std::runtime_error: "PATH: what SQLite says".
  Rows run(const std::string& sql, const std::vector<Cell>& parameters);
  /// Closes the file; using the database afterwards is an error. The last one that closes leaves no file beside it.
  void close();
  /// True if the file was renamed, removed or replaced since it was opened: what is written now nobody will find.
  bool moved() const;
  /// How many rows the last statement changed.
  int64_t changed() const;
  /// True if this process writes the database exclusively, so that others need a copy to read.
  bool exclusive() const;
  /// Says what was read instead of the database, and why; nothing if the database itself is read.
  std::optional<std::string> note() const;

 private:
  struct Open;
  std::unique_ptr<Open> open_;
};

}  // namespace mr::io
