// SQLite databases: opened as untrusted and with the settings of a store, read and written through bound parameters.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace mr::io {

/// What a parameter or a field can be. SQLite has no truth values (they go in as 1 and 0) and no NaN (it becomes NULL).
struct Cell {
  std::variant<std::monostate, bool, int64_t, double, std::string> value;
};

struct Rows {
  std::vector<std::string> names;
  std::vector<std::vector<Cell>> columns;
};

class Database {
 public:
  enum Mode { read, write };
  /// Write-ahead log, foreign keys on, and some seconds of waiting for other programs' locks. Reading never creates a
  /// file; one that is not regular, is no database, or cannot be read or written, is a std::runtime_error that names
  /// it. Triggers and views in it are never run.
  Database(const std::string& path, Mode mode);
  /// One in memory.
  Database();

  /// Runs one statement to its end and returns its rows, by column. `?1`, `?2`, ... stand for the parameters. Failures
  /// are std::runtime_error: "PATH: what SQLite says".
  Rows run(const std::string& sql, const std::vector<Cell>& parameters);
  /// Closes the file; using the database afterwards is an error.
  void close();
  /// Whether the file was renamed, removed or replaced since it was opened: what is written now nobody will find.
  bool moved() const;
  /// How many rows the last statement changed.
  int64_t changed() const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  sqlite3_stmt* prepared(const std::string& sql);
  void bind(sqlite3_stmt* statement, const std::vector<Cell>& parameters) const;
  [[noreturn]] void fail() const;
  void connect(const std::string& name, Mode mode);

  std::string path_;
  std::unique_ptr<bool> interrupted_ = std::make_unique<bool>(false);  // whether Ctrl-C ended a statement
  std::unique_ptr<sqlite3, Close> database_;
  std::unordered_map<std::string, std::unique_ptr<sqlite3_stmt, Finalize>> statements_;
};

}  // namespace mr::io
