// Fuzz target for stores of sweeps: SQLite files, with or without a write-ahead log.
#pragma once

#include <string>
#include <string_view>

namespace mr::fuzz {

/// Input of the fuzz target `store`: one byte says how the store is opened; if its bit `has_log` is set, two bytes have
/// the size of the database file; then come the database file and its write-ahead log.
struct StoreBytes {
  enum : unsigned { write = 1, marks_in_name = 2, has_log = 4, two_names = 8 };
  unsigned how = 0;
  std::string file, log;
  std::string text() const;
  static StoreBytes of(std::string_view bytes);
};

/// Opens the bytes as a store's database file, for reading or for writing, and reads it. If it is opened for writing,
/// rows are changed too.
void store(std::string_view bytes);

}  // namespace mr::fuzz
