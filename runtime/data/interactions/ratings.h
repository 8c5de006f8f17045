// Reads ratings of items by users: from a table, or from a file where each line lists the items of one user (a
// library).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mr {

/// A rule for a pair of user and item with several ratings: raise an error, or merge them into the row of the first
/// one. `last` and `first` keep the latest or earliest rating, by time if there are times (then by line), else by line.
/// `max` keeps the largest rating; if several are equal, the last of them. `sum` adds the ratings and keeps the latest
/// time.
enum class Duplicates : int8_t { error, last, first, max, sum };

/// The columns of a table of ratings. They are given by their names in the header; without a header, and for the
/// columns in `placed`, by numbers from 1. If there is no rating column (its name is empty, or it is optional and
/// missing), all ratings are 1. If it is missing although optional, any column that may be the rating is an error: one
/// that is not user, item or "timestamp".
struct RatingColumns {
  std::string user = "userId", item = "movieId", rating = "rating";
  bool rating_required = true, header = true;
  char delimiter = ',';
  /// Name of the column with timestamps, which are integers of any unit. If it is empty, no timestamps are read.
  std::string time = "";
  bool time_required = false;
  Duplicates duplicates = Duplicates::error;
  // which of the columns "user", "item", "rating" and "timestamp" are given by their number, not by name
  std::vector<std::string> placed = {};
  // Required number of columns of the file, if all columns are given by number. If it is 0, any number is accepted.
  int64_t width = 0;
};

/// Ratings of numbered users and items. Numbers begin with 1 and follow the ids in ascending order if all ids are
/// integers, else the order of appearance.
struct Ratings {
  std::vector<int64_t> user, item;
  std::vector<float> value;
  std::vector<int64_t> time;  // timestamp of each rating; empty if there are no timestamps
  // for each rating, the number of its file, counted from 0; empty if only one file was read
  std::vector<int64_t> file;
  std::vector<std::string> user_ids, item_ids;
  bool has_ratings = false;  // false if the file has no rating column; then all values are 1
};

/// Reads a table of ratings. Errors name file, line and column: a missing column, a word instead of a number, an empty
/// id, a wrong number of fields, a repeated pair of user and item (if it is not merged), or a table without rows.
Ratings read_ratings(const std::string& path, const RatingColumns& columns);

/// Like `read_ratings`, but reads several files that use the same ids. `duplicates` says what happens to a pair of user
/// and item that is repeated within a file. A pair in two files is an error.
Ratings read_rating_files(const std::vector<std::string>& paths, const RatingColumns& columns);

/// Reads a file of lines "count item item ..." with integers, one line per user. A user's id is the line number,
/// counted from 0, and all ratings are 1. Errors name file, line and column: a word instead of a number, a wrong count,
/// an item that is repeated in its line, or a file without items.
Ratings read_libraries(const std::string& path);

/// Returns for each row of a CSV file the fields of the columns `key` and `value`, for example movie ids and titles.
std::vector<std::pair<std::string, std::string>> read_pairs(const std::string& path, const std::string& key,
                                                            const std::string& value);

}  // namespace mr
