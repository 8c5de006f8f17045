#include "runtime/data/ratings.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "runtime/data/csv.h"
#include "runtime/io/text_file.h"

namespace mr {
namespace {

/// Numbers ids in the order of appearance; `sort` renumbers by value where all are whole numbers.
class Ids {
 public:
  int64_t number_of(const std::string& id) {
    const auto [at, is_new] = numbers_.try_emplace(id, static_cast<int64_t>(names_.size()) + 1);
    if (is_new) names_.push_back(id);
    return at->second;
  }

  const std::string& name_of(int64_t number) const { return names_[number - 1]; }

  std::vector<std::string> sorted(std::vector<int64_t>& numbers) {
    std::vector<int64_t> value(names_.size()), order(names_.size());
    for (size_t i = 0; i < names_.size(); ++i) {
      order[i] = static_cast<int64_t>(i);
      const char* const end = names_[i].data() + names_[i].size();
      const auto parsed = std::from_chars(names_[i].data(), end, value[i]);
      if (parsed.ec != std::errc() || parsed.ptr != end) return names_;
    }
    // stable: 7 and 07 are two ids of one value
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return value[a] < value[b]; });
    std::vector<int64_t> renumbered(names_.size());
    std::vector<std::string> names;
    for (size_t i = 0; i < order.size(); ++i) {
      renumbered[order[i]] = static_cast<int64_t>(i) + 1;
      names.push_back(names_[order[i]]);
    }
    for (int64_t& n : numbers) n = renumbered[n - 1];
    return names;
  }

 private:
  std::unordered_map<std::string, int64_t> numbers_;
  std::vector<std::string> names_;
};

/// Checks that each pair occurs once. Sorting packed numbers takes a tenth of a hash set's time; the line of a repeated
/// pair is sought only on error.
void check_pairs(const std::string& path, const Ratings& ratings, const Ids& users, const Ids& items,
                 const std::vector<int64_t>& lines) {
  constexpr int shift = 32;
  std::vector<uint64_t> pairs(lines.size());
  for (size_t i = 0; i < pairs.size(); ++i) {
    pairs[i] = (static_cast<uint64_t>(ratings.user[i]) << shift) | static_cast<uint64_t>(ratings.item[i]);
  }
  std::sort(pairs.begin(), pairs.end());
  if (std::adjacent_find(pairs.begin(), pairs.end()) == pairs.end()) return;
  std::unordered_map<uint64_t, int64_t> first_line;
  for (size_t i = 0; i < lines.size(); ++i) {
    const uint64_t pair = (static_cast<uint64_t>(ratings.user[i]) << shift) | static_cast<uint64_t>(ratings.item[i]);
    const auto [before, is_new] = first_line.try_emplace(pair, lines[i]);
    if (is_new) continue;
    throw ParseError(path, lines[i], 1,
                     "found user " + quoted(users.name_of(ratings.user[i])) + " with item " +
                         quoted(items.name_of(ratings.item[i])) + " a second time (first at line " +
                         std::to_string(before->second) + "), expected each pair once");
  }
}

}  // namespace

Ratings read_ratings(const std::string& path, const RatingColumns& columns) {
  CsvReader file(path, columns.delimiter);
  CsvRecord record;
  if (!file.next(record)) throw ParseError(path, 1, 1, "the file is empty, expected ratings");
  const size_t width = record.fields.size();
  const size_t user = column_of(file, record, columns.user, columns.header),
               item = column_of(file, record, columns.item, columns.header);
  size_t rating = columns.rating.empty() ? no_column : find_column(record, columns.rating, columns.header);
  if (rating == no_column && !columns.rating.empty() && columns.rating_required) {
    rating = column_of(file, record, columns.rating, columns.header);
  }
  Ratings out;
  Ids users, items;
  std::vector<int64_t> lines;
  bool more = columns.header ? file.next(record) : true;
  for (; more; more = file.next(record)) {
    check_width(file, record, width);
    out.user.push_back(users.number_of(id_in(file, record, user, "user")));
    out.item.push_back(items.number_of(id_in(file, record, item, "item")));
    out.value.push_back(rating == no_column ? 1.0F
                                            : parse_number(record.fields[rating], path, record.line,
                                                           record.columns[rating], "the rating"));
    lines.push_back(record.line);
  }
  if (lines.empty()) throw ParseError(path, record.line + 1, 1, "found a header and no rows, expected ratings");
  check_pairs(path, out, users, items, lines);
  out.user_ids = users.sorted(out.user);
  out.item_ids = items.sorted(out.item);
  return out;
}

std::vector<std::pair<std::string, std::string>> read_pairs(const std::string& path, const std::string& key,
                                                            const std::string& value) {
  CsvReader file(path);
  CsvRecord record;
  if (!file.next(record)) throw ParseError(path, 1, 1, "the file is empty, expected a header");
  const size_t width = record.fields.size(), k = column_of(file, record, key, true),
               v = column_of(file, record, value, true);
  std::vector<std::pair<std::string, std::string>> pairs;
  while (file.next(record)) {
    check_width(file, record, width);
    pairs.emplace_back(record.fields[k], record.fields[v]);
  }
  return pairs;
}

}  // namespace mr
