// Ratings: interactions of users and items from a table, or from lines of libraries.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mr {

/// How to treat a pair of user and item that occurs again: as an error, or as one row, at the place
/// of its first occurrence. `first` and `last` are by time if there is one (ties by line), else by
/// line. `max` keeps the row of the largest rating, of ties the last. `sum` adds the ratings and
/// takes the time of the last.
enum class Duplicates : int8_t { error, last, first, max, sum };

/// Which columns hold what: a name of the header, or a number from 1 where there is no header, and for those in
/// `placed`. Without a rating column (an empty name, or one that is not required and not there) all ratings are 1. A
/// rating that is neither required nor there is an error where a column is left that may hold it: any but user, item
/// and "timestamp".
struct RatingColumns {
  std::string user = "userId", item = "movieId", rating = "rating";
  bool rating_required = true, header = true;
  char delimiter = ',';
  /// Whole numbers of any meaning; without this column (as for the rating) there are no times.
  std::string time = "";
  bool time_required = false;
  Duplicates duplicates = Duplicates::error;
  std::vector<std::string> placed = {};  // those of "user", "item", "rating" and "timestamp" that are numbers
  int64_t width = 0;  // how many columns the files must have, which are then meant by number; 0: any number
};

/// Users and items are numbered from 1: by their ids where all are whole numbers, else in the order of appearance.
struct Ratings {
  std::vector<int64_t> user, item;
  std::vector<float> value;
  std::vector<int64_t> time;  // one per row, or none
  std::vector<int64_t> file;  // of several files, which one each row is from, counted from 0; else none
  std::vector<std::string> user_ids, item_ids;
  bool has_ratings = false;  // else all are 1
};

/// Throws with file, line and column: a missing column, a word for a number, an empty id, a line of another width, a
/// pair that occurs twice where that is an error, no rows.
Ratings read_ratings(const std::string& path, const RatingColumns& columns);

/// Like `read_ratings`, for several files with the same ids. `duplicates` are settled within each
/// file; a pair in two files is an error.
Ratings read_rating_files(const std::vector<std::string>& paths, const RatingColumns& columns);

/// Lines "count item item ..." of whole numbers, one for each user, whose id is its line's number from 0; all ratings
/// are 1. Throws with file, line and column: a word for a number, another count, an item twice in a line, no items.
Ratings read_libraries(const std::string& path);

/// The fields of column `value` by those of column `key`, e.g. titles by movie id.
std::vector<std::pair<std::string, std::string>> read_pairs(const std::string& path, const std::string& key,
                                                            const std::string& value);

}  // namespace mr
