#include "runtime/io/ratings.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <unordered_set>

#include "runtime/io/csv.h"
#include "runtime/io/text_file.h"

namespace mr {
namespace {

/// Numbers ids as they come; `sort` renumbers by value where all are whole numbers.
class Ids {
 public:
  int64_t number_of(const std::string& id) {
    const auto [at, is_new] = numbers_.try_emplace(id, static_cast<int64_t>(names_.size()) + 1);
    if (is_new) names_.push_back(id);
    return at->second;
  }

  std::vector<std::string> sorted(std::vector<int64_t>& numbers) {
    std::vector<int64_t> value(names_.size()), order(names_.size());
    for (size_t i = 0; i < names_.size(); ++i) {
      order[i] = static_cast<int64_t>(i);
      const char* const end = names_[i].data() + names_[i].size();
      const auto parsed = std::from_chars(names_[i].data(), end, value[i]);
      if (parsed.ec != std::errc() || parsed.ptr != end) return names_;
    }
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return value[a] < value[b]; });
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

size_t column_of(const CsvReader& file, const CsvRecord& first, const std::string& name, bool header) {
  if (!header) {
    size_t number = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
    if (parsed.ec == std::errc() && number >= 1 && number <= first.fields.size()) return number - 1;
    throw ParseError(file.path(), first.line, 1,
                     "found " + std::to_string(first.fields.size()) +
                         " columns and no header, expected a column number, got " + quoted(name));
  }
  const auto at = std::find(first.fields.begin(), first.fields.end(), name);
  if (at != first.fields.end()) return static_cast<size_t>(at - first.fields.begin());
  std::string found;
  for (const std::string& field : first.fields) found += (found.empty() ? "" : ", ") + field;
  throw ParseError(file.path(), first.line, 1,
                   "found the columns " + quoted(found) + ", expected one named " + quoted(name));
}

void check_width(const CsvReader& file, const CsvRecord& record, size_t width) {
  if (record.fields.size() == width) return;
  throw ParseError(file.path(), record.line, 1,
                   "found " + std::to_string(record.fields.size()) + " fields, expected " + std::to_string(width) +
                       " as in the first line");
}

}  // namespace

Ratings read_ratings(const std::string& path, const RatingColumns& columns) {
  CsvReader file(path, columns.delimiter);
  CsvRecord record;
  if (!file.next(record)) throw ParseError(path, 1, 1, "the file is empty, expected ratings");
  const size_t width = record.fields.size();
  const size_t user = column_of(file, record, columns.user, columns.header),
               item = column_of(file, record, columns.item, columns.header);
  const bool rated = !columns.rating.empty();
  const size_t rating = rated ? column_of(file, record, columns.rating, columns.header) : 0;
  Ratings out;
  Ids users, items;
  std::unordered_set<uint64_t> seen;
  bool more = columns.header ? file.next(record) : true;
  for (; more; more = file.next(record)) {
    check_width(file, record, width);
    const double value =
        rated ? parse_number(record.fields[rating], path, record.line, record.columns[rating], "the rating") : 1;
    out.user.push_back(users.number_of(record.fields[user]));
    out.item.push_back(items.number_of(record.fields[item]));
    out.value.push_back(static_cast<float>(value));
    if (!seen.insert((static_cast<uint64_t>(out.user.back()) << 32) | static_cast<uint64_t>(out.item.back())).second) {
      throw ParseError(path, record.line, 1,
                       "found user " + quoted(record.fields[user]) + " with item " + quoted(record.fields[item]) +
                           " a second time, expected each pair once");
    }
  }
  if (out.user.empty()) throw ParseError(path, record.line, 1, "found a header and no rows, expected ratings");
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
