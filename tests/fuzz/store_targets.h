// SQLite's files as stores, with the log beside them.
#pragma once

#include <string>
#include <string_view>

namespace mr::fuzz {

/// Input of the target `store`: how the store is opened, with `has_log` two bytes for the size of
/// the file, then the file and its log.
struct StoreBytes {
  enum : unsigned { write = 1, marks_in_name = 2, has_log = 4, two_names = 8 };
  unsigned how = 0;
  std::string file, log;
  std::string text() const;
  static StoreBytes of(std::string_view bytes);
};

/// Opens bytes as a store's file for reading, or for writing, which it then changes.
void store(std::string_view bytes);

}  // namespace mr::fuzz
