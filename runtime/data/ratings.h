// Who rated what: interactions of users and items from a table, or from lines of libraries.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mr {

/// Which columns hold what: a name of the header, else (and always where there is no header) a number from 1. Without a
/// rating column (an empty name, or one that is not required and not there) all ratings are 1.
struct RatingColumns {
  std::string user = "userId", item = "movieId", rating = "rating";
  bool rating_required = true, header = true;
  char delimiter = ',';
};

/// Users and items are numbered from 1: by their ids where all are whole numbers, else in the order of appearance.
struct Ratings {
  std::vector<int64_t> user, item;
  std::vector<float> value;
  std::vector<std::string> user_ids, item_ids;
};

/// Throws with file, line and column: a missing column, a word for a number, an empty id, a line of another width, a
/// pair that occurs twice, no rows.
Ratings read_ratings(const std::string& path, const RatingColumns& columns);

/// Lines "count item item ..." of whole numbers, one for each user, whose id is its line's number from 0; all ratings
/// are 1. Throws with file, line and column: a word for a number, another count, an item twice in a line, no items.
Ratings read_libraries(const std::string& path);

/// The fields of column `value` by those of column `key`, e.g. titles by movie id.
std::vector<std::pair<std::string, std::string>> read_pairs(const std::string& path, const std::string& key,
                                                            const std::string& value);

}  // namespace mr
