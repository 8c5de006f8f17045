#include "runtime/data/interactions/ratings.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <numeric>
#include <unordered_map>

#include "kernels/core/patient.h"
#include "runtime/data/csv.h"
#include "runtime/io/files/text_file.h"

namespace mr {
namespace {

/// Numbers the ids of users or items in the order of appearance. `sorted` renumbers them by value if all are integers.
class Ids {
 public:
  int64_t number_of(const std::string& id) {
    const auto [at, is_new] = numbers_.try_emplace(id, static_cast<int64_t>(names_.size()) + 1);
    if (is_new) names_.push_back(id);
    return at->second;
  }

  bool has(const std::string& id) const { return numbers_.find(id) != numbers_.end(); }

  const std::string& name_of(int64_t number) const { return names_[number - 1]; }

  std::vector<std::string> sorted(std::vector<int64_t>& numbers) {
    std::vector<int64_t> value(names_.size()), order(names_.size());
    for (size_t i = 0; i < names_.size(); ++i) {
      order[i] = static_cast<int64_t>(i);
      const char* const end = names_[i].data() + names_[i].size();
      const auto parsed = std::from_chars(names_[i].data(), end, value[i]);
      if (parsed.ec != std::errc() || parsed.ptr != end) return names_;
    }
    // The sort must be stable, because 7 and 07 are two different ids with the same value.
    const auto less = [&](int64_t a, int64_t b) { return value[a] < value[b]; };
    std::stable_sort(order.begin(), order.end(), cpu::patient(less));
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

int64_t whole_number(const CsvReader& file, const CsvRecord& record, size_t column) {
  const std::string& text = record.fields[column];
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end) {
    throw ParseError(file.path(), record.line, record.columns[column],
                     "found " + quoted(text) + ", expected a whole number of 64 bits for the timestamp");
  }
  return value;
}

struct Origin {
  int64_t line;
  size_t file;
};

/// The fields of the user and of the item in the first line of a file, and their columns, counted from 0.
struct FirstLine {
  std::string path, user, item;
  int64_t line;
  size_t user_column, item_column;
};

std::vector<uint64_t> packed_pairs(const Ratings& ratings) {
  constexpr int shift = 32;
  std::vector<uint64_t> pairs(ratings.user.size());
  for (size_t i = 0; i < pairs.size(); ++i)
    pairs[i] = (static_cast<uint64_t>(ratings.user[i]) << shift) | static_cast<uint64_t>(ratings.item[i]);
  return pairs;
}

/// Reads files of ratings one after the other. Ids of users and items are numbered in the order of appearance; after
/// the last file they may be sorted.
class RatingsReader {
 public:
  RatingsReader(const std::vector<std::string>& paths, const RatingColumns& columns)
      : paths_(paths), columns_(columns) {}

  Ratings read() {
    for (size_t i = 0; i < paths_.size(); ++i) {
      read_file(i);
      check_times(i);
      check_ratings(i);
    }
    out_.has_ratings = rated_files_ > 0;
    check_first_lines();
    check_pairs();
    if (columns_.duplicates != Duplicates::error) merge_pairs();
    out_.user_ids = users_.sorted(out_.user);
    out_.item_ids = items_.sorted(out_.item);
    if (paths_.size() > 1) {
      for (const Origin& origin : origins_) out_.file.push_back(static_cast<int64_t>(origin.file));
    }
    return std::move(out_);
  }

 private:
  /// Returns the index of the column with this name. If there is none, throws if the column is required, else returns
  /// no_column.
  static size_t optional_column(const CsvReader& file, const CsvRecord& first, const std::string& name, bool required,
                                bool header) {
    if (name.empty()) return no_column;
    return required ? column_of(file, first, name, header) : find_column(file, first, name, header);
  }

  /// Throws unless the file has the number of columns that the caller named in the option `columns`.
  void check_count(const CsvReader& file, const CsvRecord& first) const {
    const size_t width = first.fields.size();
    if (columns_.width == 0 || static_cast<int64_t>(width) == columns_.width) return;
    throw ParseError(file.path(), first.line, 1,
                     "found " + std::to_string(width) + " columns, expected " + std::to_string(columns_.width) +
                         ", as in the option columns (write false for a column that is not read)");
  }

  /// Throws if no rating column was found by default, but the file has a column that is not read and may be the rating.
  void check_unread(const CsvReader& file, const CsvRecord& first, const std::vector<size_t>& read) const {
    if (columns_.rating_required) return;
    size_t left = 0;
    while (left < first.fields.size() && (std::find(read.begin(), read.end(), left) != read.end() ||
                                          (columns_.header && first.fields[left] == "timestamp")))
      ++left;
    if (left == first.fields.size()) return;
    const std::string found = columns_.header
                                  ? columns_text(file, first) +
                                        ", expected to know which one is the rating: write columns = {rating = " +
                                        quoted(first.fields[left]) + "}"
                                  : std::to_string(first.fields.size()) +
                                        " columns without names, expected to know which one is the rating: write "
                                        "columns = {\"user\", \"item\", "
                                        "\"rating\", \"timestamp\"} in the order of the file";
    throw ParseError(file.path(), first.line, 1,
                     "found " + found + ", or columns = {rating = false} if there are no ratings");
  }

  void read_file(size_t number) {
    const RatingColumns& c = columns_;
    CsvReader file(paths_[number], c.delimiter);
    CsvRecord record;
    if (!file.next(record)) throw ParseError(file.path(), 1, 1, "the file is empty, expected ratings");
    const size_t width = record.fields.size();
    // returns true if the caller gives this column by its name in the header, false if by its number
    const auto named = [&c](const char* what) {
      return c.header && c.width == 0 && std::find(c.placed.begin(), c.placed.end(), what) == c.placed.end();
    };
    const size_t user = column_of(file, record, c.user, named("user")),
                 item = column_of(file, record, c.item, named("item"));
    const size_t rating = optional_column(file, record, c.rating, c.rating_required, named("rating")),
                 time = optional_column(file, record, c.time, c.time_required, named("timestamp"));
    check_count(file, record);
    if (rating == no_column) check_unread(file, record, {user, item, time});
    if (rating != no_column) ++rated_files_;
    if (c.header && !named("user") && !named("item"))
      first_lines_.push_back({file.path(), record.fields[user], record.fields[item], record.line, user, item});
    const size_t before = origins_.size();
    bool more = c.header ? file.next(record) : true;
    for (; more; more = file.next(record)) {
      check_width(file, record, width);
      out_.user.push_back(users_.number_of(id_in(file, record, user, "user")));
      out_.item.push_back(items_.number_of(id_in(file, record, item, "item")));
      out_.value.push_back(rating == no_column ? 1.0F
                                               : parse_number(record.fields[rating], file.path(), record.line,
                                                              record.columns[rating], "the rating"));
      if (time != no_column) out_.time.push_back(whole_number(file, record, time));
      origins_.push_back({record.line, number});
    }
    if (origins_.size() == before)
      throw ParseError(file.path(), record.line + 1, 1, "found a header and no rows, expected ratings");
  }

  /// Throws if the line of column names has an id that occurs again below, because the line is data then. A name that
  /// is the number of its column is no such id.
  void check_first_lines() const {
    const auto is_id = [](const Ids& ids, const std::string& name, size_t column) {
      return ids.has(name) && !is_number_of(name, column);
    };
    for (const FirstLine& first : first_lines_) {
      if (!is_id(users_, first.user, first.user_column) && !is_id(items_, first.item, first.item_column)) continue;
      throw ParseError(first.path, first.line, 1,
                       "found user " + quoted(first.user) + " with item " + quoted(first.item) +
                           ", which are ids of the file, in the line of column names. Pass header = false if the "
                           "file has no such line, or add one");
    }
  }

  void check_times(size_t number) const {
    if (out_.time.empty() || out_.time.size() == origins_.size()) return;
    throw ParseError(
        paths_[number], 1, 1,
        "found timestamps in some of the files, expected a column " + quoted(columns_.time) + " in all or none");
  }

  void check_ratings(size_t number) const {
    if (rated_files_ == 0 || rated_files_ == number + 1) return;
    throw ParseError(
        paths_[number], 1, 1,
        "found ratings in some of the files, expected a column " + quoted(columns_.rating) + " in all or none");
  }

  /// Throws if a pair of user and item occurs twice. If duplicates are merged, throws only if a pair occurs in two
  /// files. Repeats are found by sorting packed numbers, which takes a tenth of the time of a hash set. The line of a
  /// repeated pair is looked up only for the error.
  void check_pairs() const {
    const bool within = columns_.duplicates == Duplicates::error;
    if (!within && paths_.size() == 1) return;
    const std::vector<uint64_t> pairs = packed_pairs(out_);
    if (within) {
      std::vector<uint64_t> sorted = pairs;
      std::sort(sorted.begin(), sorted.end(), cpu::patient(std::less<>()));
      if (std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end()) return;
    }
    std::unordered_map<uint64_t, size_t> first;
    for (size_t i = 0; i < pairs.size(); ++i) {
      const auto [before, is_new] = first.try_emplace(pairs[i], i);
      if (!is_new && (within || origins_[before->second].file != origins_[i].file)) repeated(before->second, i);
    }
  }

  [[noreturn]] void repeated(size_t first, size_t again) const {
    const Origin &was = origins_[first], &is = origins_[again];
    const bool same = was.file == is.file;
    const std::string place = same ? "line " : paths_[was.file] + ":",
                      advice = same ? "expected each pair once (duplicates = \"last\", \"first\", \"max\" or "
                                      "\"sum\" merges them)"
                                    : "expected each pair in one file. Remove it from the other files";
    throw ParseError(paths_[is.file], is.line, 1,
                     "found user " + quoted(users_.name_of(out_.user[again])) + " with item " +
                         quoted(items_.name_of(out_.item[again])) + " a second time (first at " + place +
                         std::to_string(was.line) + "), " + advice);
  }

  /// Merges all ratings of one pair of user and item; `rows` has their row numbers, ascending. The resulting value and
  /// time are written to the first of these rows.
  void merge(const size_t* rows, size_t count) {
    const auto later = [&](size_t a, size_t b) { return out_.time.empty() || out_.time[b] >= out_.time[a]; };
    size_t chosen = rows[0];
    double sum = out_.value[chosen];
    for (size_t i = 1; i < count; ++i) {
      const size_t row = rows[i];
      sum += out_.value[row];
      const bool takes =
          columns_.duplicates == Duplicates::first ? !later(chosen, row)
          : columns_.duplicates == Duplicates::max
              ? out_.value[row] > out_.value[chosen] || (out_.value[row] == out_.value[chosen] && later(chosen, row))
              : later(chosen, row);
      if (takes) chosen = row;
    }
    const Origin& origin = origins_[rows[0]];
    const auto added = static_cast<float>(sum);
    const bool adds = columns_.duplicates == Duplicates::sum;
    if (adds && !std::isfinite(added))
      throw ParseError(paths_[origin.file], origin.line, 1, "found ratings of one pair whose sum overflows float32");
    out_.value[rows[0]] = adds ? added : out_.value[chosen];
    if (!out_.time.empty()) out_.time[rows[0]] = out_.time[chosen];
  }

  void merge_pairs() {
    const std::vector<uint64_t> pairs = packed_pairs(out_);
    std::vector<size_t> order(pairs.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const auto before = [&](size_t a, size_t b) { return pairs[a] != pairs[b] ? pairs[a] < pairs[b] : a < b; };
    std::sort(order.begin(), order.end(), cpu::patient(before));
    std::vector<bool> dropped(pairs.size());
    for (size_t i = 0, end = 0; i < order.size(); i = end) {
      for (end = i + 1; end < order.size() && pairs[order[end]] == pairs[order[i]]; ++end) dropped[order[end]] = true;
      merge(order.data() + i, end - i);
    }
    size_t kept = 0;
    for (size_t i = 0; i < dropped.size(); ++i) {
      if (dropped[i]) continue;
      out_.user[kept] = out_.user[i];
      out_.item[kept] = out_.item[i];
      out_.value[kept] = out_.value[i];
      if (!out_.time.empty()) out_.time[kept] = out_.time[i];
      origins_[kept++] = origins_[i];
    }
    out_.user.resize(kept);
    out_.item.resize(kept);
    out_.value.resize(kept);
    if (!out_.time.empty()) out_.time.resize(kept);
    origins_.resize(kept);
  }

  const std::vector<std::string>& paths_;
  const RatingColumns& columns_;
  Ratings out_;
  Ids users_, items_;
  std::vector<Origin> origins_;
  std::vector<FirstLine> first_lines_;  // of files with a line of names, if columns are given by number
  size_t rated_files_ = 0;
};

}  // namespace

Ratings read_ratings(const std::string& path, const RatingColumns& columns) {
  return read_rating_files({path}, columns);
}

Ratings read_rating_files(const std::vector<std::string>& paths, const RatingColumns& columns) {
  return RatingsReader(paths, columns).read();
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
