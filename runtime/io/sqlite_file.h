// Checks and settings before an untrusted SQLite database is read.
#pragma once

#include <string>

struct sqlite3;

namespace mr::io {

/// A path as SQLite's URI, which takes `immutable`: what has a meaning in a URI is escaped.
std::string uri_of(const std::string& path);
/// Settings for untrusted files: nothing in one is executed, changes how others are read, or exhausts memory.
void defend(sqlite3* database);
/// SQLite opens these beside the file; if one were a pipe it would wait for a writer.
void need_regular_files(const std::string& path);
/// SQLite takes a file of one byte for an empty one, and would replace it.
void need_more_than_a_byte(const std::string& path);
/// SQLite names its log after the file: writers by two names of one file would each have a log and destroy it.
void need_one_name(const std::string& path);
/// The file that a name leads to, by which files beside it are named.
std::string followed(const std::string& path);
bool is_there(const std::string& path);

}  // namespace mr::io
