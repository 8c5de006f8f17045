// Checks and settings for untrusted SQLite databases.
#pragma once

#include <string>

struct sqlite3;

namespace mr::io {

/// Returns a path as an SQLite URI, with special characters escaped. URIs allow the parameter `immutable`.
std::string uri_of(const std::string& path);
/// Makes a connection safe for untrusted files: their content cannot run code, change how other data is read, or
/// exhaust memory.
void defend(sqlite3* database);
/// Throws if the database, or a file that SQLite opens beside it, is not regular. Opening a pipe would block.
void need_regular_files(const std::string& path);
/// Throws for a file of one byte, which SQLite would treat as empty and overwrite.
void need_more_than_a_byte(const std::string& path);
/// Throws if the file has several hard links. SQLite names its log after the file, so writers by two names would have
/// two logs and destroy the database.
void need_one_name(const std::string& path);
/// Returns the path with symbolic links resolved. Files beside the database are named after it.
std::string followed(const std::string& path);
bool is_there(const std::string& path);

}  // namespace mr::io
