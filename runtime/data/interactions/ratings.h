// Reads ratings, which are interactions of users and items: from a table, or from a file where each line lists the
// items of one user (a library).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mr {

/// How to treat a repeated pair of user and item: as an error, or merged into one row at the place of the first one.
/// `first` and `last` are by time if there are times (ties by line), else by line. `max` keeps the row with the largest
/// rating, the last one of ties. `sum` adds the ratings and keeps the time of the last.
enum class Duplicates : int8_t { error, last, first, max, sum };

/// The columns to read: names in the header, or numbers from 1 if there is no header and for columns in `placed`.
/// Without a rating column (its name is empty, or it is optional and missing) all ratings are 1. A missing optional
/// rating column is an error if a column remains that may be the rating, which is any but user, item and "timestamp".
struct RatingColumns {
  std::string user = "userId", item = "movieId", rating = "rating";
  bool rating_required = true, header = true;
  char delimiter = ',';
  /// Integer timestamps of any unit. Without this column there are no times.
  std::string time = "";
  bool time_required = false;
  Duplicates duplicates = Duplicates::error;
  // columns among "user", "item", "rating", "timestamp" that are given by number, not by name
  std::vector<std::string> placed = {};
  // required number of columns of the file, all given by number; 0: any number of columns
  int64_t width = 0;
};

/// Users and items are numbered from 1: by their ids if all are integers, else in the order of appearance.
struct Ratings {
  std::vector<int64_t> user, item;
  std::vector<float> value;
  std::vector<int64_t> time;  // timestamp of each rating; empty if there are no timestamps
  std::vector<int64_t> file;  // for several files: the number of each rating's file, from 0; else empty
  std::vector<std::string> user_ids, item_ids;
  bool has_ratings = false;  // false if the data has no ratings; then all values are 1
};

/// Throws with file, line and column: a missing column, a word instead of a number, an empty id, a wrong number of
/// fields, a repeated pair if that is an error, no rows.
Ratings read_ratings(const std::string& path, const RatingColumns& columns);

/// Like `read_ratings`, for several files with the same ids. `duplicates` applies within each file. A pair that occurs
/// in two files is an error.
Ratings read_rating_files(const std::vector<std::string>& paths, const RatingColumns& columns);

/// Reads lines "count item item ..." of integers, one line per user. A user's id is the line's number, from 0. All
/// ratings are 1. Throws with file, line and column: a word instead of a number, a wrong count, a repeated item in a
/// line, no items.
Ratings read_libraries(const std::string& path);

/// Returns pairs of fields from columns `key` and `value`, for example movie ids and titles.
std::vector<std::pair<std::string, std::string>> read_pairs(const std::string& path, const std::string& key,
                                                            const std::string& value);

}  // namespace mr
