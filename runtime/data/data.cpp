// Lua functions for data sets: readers of files, generators of synthetic data, and folds.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>

#include "kernels/core/threads.h"
#include "runtime/data/adopted.h"
#include "runtime/data/csv.h"
#include "runtime/data/interactions/ratings.h"
#include "runtime/data/interactions/split.h"
#include "runtime/data/interactions/user_items.h"
#include "runtime/data/letor/letor.h"
#include "runtime/data/letor/letor_cache.h"
#include "runtime/data/synthetic.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/ops/lists.h"

namespace mr {
namespace {
using KeptUsers = std::shared_ptr<const Positives>;
}
template <>
inline constexpr const char* lua::class_name<KeptUsers> = "mr.Positives";

namespace {

struct RatingTensors {
  Tensor user, item, value, time, file;
  std::vector<std::string> user_ids, item_ids;
  bool has_ratings = false;
  static constexpr auto fields =
      lua::fields("has_ratings", &RatingTensors::has_ratings, "user", &RatingTensors::user, "item",
                  &RatingTensors::item, "value", &RatingTensors::value, "time", &RatingTensors::time, "file",
                  &RatingTensors::file, "user_ids", &RatingTensors::user_ids, "item_ids", &RatingTensors::item_ids);
};

RatingTensors as_tensors(Ratings ratings) {
  return {adopted(std::move(ratings.user)),  adopted(std::move(ratings.item)),
          adopted(std::move(ratings.value)), adopted(std::move(ratings.time)),
          adopted(std::move(ratings.file)),  std::move(ratings.user_ids),
          std::move(ratings.item_ids),       ratings.has_ratings};
}

Duplicates to_duplicates(const std::string& name) {
  if (name == "error") return Duplicates::error;
  if (name == "last") return Duplicates::last;
  if (name == "first") return Duplicates::first;
  if (name == "max") return Duplicates::max;
  if (name == "sum") return Duplicates::sum;
  throw ArgumentError("duplicates", "'" + name + "', expected 'error', 'last', 'first', 'max' or 'sum'");
}

RatingTensors read_ratings_of(const std::vector<std::string>& paths, const std::string& user, const std::string& item,
                              const std::string& rating, bool rating_required, const std::string& time,
                              bool time_required, bool header, const std::string& delimiter,
                              const std::string& duplicates, std::optional<int64_t> width,
                              std::optional<std::vector<std::string>> placed) {
  if (delimiter.size() != 1) throw ArgumentError("delimiter", "'" + delimiter + "', expected one character");
  Ratings read = read_rating_files(paths, {.user = user,
                                           .item = item,
                                           .rating = rating,
                                           .rating_required = rating_required,
                                           .header = header,
                                           .delimiter = delimiter[0],
                                           .time = time,
                                           .time_required = time_required,
                                           .duplicates = to_duplicates(duplicates),
                                           .placed = std::move(placed).value_or(std::vector<std::string>{}),
                                           .width = width.value_or(0)});
  // Files are numbered by part: 0 train, 1 validation, 2 test. If there are only two files, the second one is the test
  // part, so its number 1 becomes 2.
  if (paths.size() == 2) std::replace(read.file.begin(), read.file.end(), int64_t{1}, int64_t{2});
  return as_tensors(std::move(read));
}

RatingTensors read_libraries_of(const std::string& path) { return as_tensors(read_libraries(path)); }

std::tuple<std::vector<std::string>, std::vector<std::string>> read_pairs_of(const std::string& path,
                                                                             const std::string& key,
                                                                             const std::string& value) {
  std::vector<std::string> keys, values;
  for (auto& [k, v] : read_pairs(path, key, value)) {
    keys.push_back(std::move(k));
    values.push_back(std::move(v));
  }
  return {std::move(keys), std::move(values)};
}

std::tuple<std::vector<std::vector<std::string>>, std::vector<int64_t>> read_csv_of(const std::string& path,
                                                                                    const std::string& delimiter) {
  if (delimiter.size() != 1) throw ArgumentError("delimiter", "'" + delimiter + "', expected one character");
  CsvReader file(path, delimiter[0]);
  std::vector<std::vector<std::string>> rows;
  std::vector<int64_t> lines;
  for (CsvRecord record; file.next(record); rows.push_back(std::move(record.fields))) {
    if (!rows.empty()) check_width(file, record, rows[0].size());
    lines.push_back(record.line);
  }
  return {std::move(rows), std::move(lines)};
}

RatingTensors make_ratings_of(int64_t users, int64_t items, int64_t factors, int64_t mean_activity, double noise,
                              int64_t seed) {
  return as_tensors(make_ratings({.users = users,
                                  .items = items,
                                  .factors = factors,
                                  .mean_activity = mean_activity,
                                  .noise = noise,
                                  .seed = static_cast<uint64_t>(seed)}));
}

std::tuple<Lists, Tensor> judged(LetorFile file) {
  return {Lists(std::move(file.sizes), std::move(file.labels), std::move(file.qids), std::move(file.documents)),
          std::move(file.features)};
}

Null to_null(const std::string& name) {
  if (name == "refused") return Null::refused;
  if (name == "zero") return Null::zero;
  if (name == "missing") return Null::missing;
  throw ArgumentError("null", "'" + name + "', expected 'refused', 'zero' or 'missing'");
}

std::tuple<Lists, Tensor> read_letor_of(const std::string& path, int64_t features, bool any_order,
                                        const std::string& null, bool qid_optional) {
  return judged(read_letor(
      path, {.features = features, .any_order = any_order, .null = to_null(null), .qid_optional = qid_optional}));
}

std::tuple<Lists, Tensor, std::optional<std::string>> read_letor_cached_of(const std::string& path, int64_t features,
                                                                           bool any_order, const std::string& null,
                                                                           bool qid_optional,
                                                                           const std::string& folder) {
  std::string problem;
  auto [lists, x] = judged(read_letor_cached(
      path, {.features = features, .any_order = any_order, .null = to_null(null), .qid_optional = qid_optional}, folder,
      problem));
  return {std::move(lists), std::move(x), problem.empty() ? std::nullopt : std::optional(std::move(problem))};
}

std::tuple<Lists, Tensor> make_queries_of(int64_t queries, int64_t features, int64_t mean_size, double noise,
                                          int64_t seed) {
  return judged(make_queries({.queries = queries,
                              .features = features,
                              .mean_size = mean_size,
                              .noise = noise,
                              .seed = static_cast<uint64_t>(seed)}));
}

/// Returns the weights of the lists or rows of all parts (train, validation, test), joined. A part without weights gets
/// weights of 1. If no part has weights, the result is empty.
std::vector<double> joined_weights(const std::vector<Lists>& parts,
                                   const std::vector<double>& (Lists::*weights)() const,
                                   int64_t (Lists::*count)() const) {
  if (std::none_of(parts.begin(), parts.end(), [&](const Lists& part) { return !(part.*weights)().empty(); }))
    return {};
  std::vector<double> all;
  for (const Lists& part : parts) {
    const std::vector<double>& own = (part.*weights)();
    if (own.empty()) all.resize(all.size() + static_cast<size_t>((part.*count)()), 1.0);
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

Lists join_lists(const std::vector<Lists>& parts) {
  std::vector<int64_t> sizes;
  std::vector<float> relevance;
  std::vector<std::string> ids;
  Names documents;
  bool named = true, documented = true;
  for (const Lists& part : parts) {
    sizes.insert(sizes.end(), part.sizes().begin(), part.sizes().end());
    relevance.insert(relevance.end(), part.relevance().begin(), part.relevance().end());
    ids.insert(ids.end(), part.ids().begin(), part.ids().end());
    documents.append(part.documents(), 0, part.documents().size());
    named = named && !part.ids().empty();
    documented = documented && !part.documents().empty();
  }
  if (!named) ids.clear();
  if (!documented) documents = {};
  const Lists joined(std::move(sizes), std::move(relevance), std::move(ids), std::move(documents));
  return joined.with_weights(joined_weights(parts, &Lists::row_weights, &Lists::rows),
                             joined_weights(parts, &Lists::list_weights, &Lists::count));
}

std::tuple<std::vector<std::string>, std::vector<std::string>, std::vector<std::string>> letor_folds_of(
    const std::string& folder) {
  std::vector<std::string> train, valid, test;
  const auto joined = [](const std::vector<std::string>& paths) {
    std::string text;
    for (const std::string& path : paths) text += (text.empty() ? "" : "\n") + path;
    return text;
  };
  for (const FoldPaths& fold : letor_fold_paths(folder)) {
    train.push_back(joined(fold.train));
    valid.push_back(joined(fold.valid));
    test.push_back(joined(fold.test));
  }
  return {std::move(train), std::move(valid), std::move(test)};
}

/// Throws unless every entry of `file` is the number of a part: 0 (train), 1 (validation) or 2 (test).
void check_files(const Tensor& file) {
  check::type("file", file, Dtype::int64);
  for (const int64_t part : Column<int64_t>(file)) {
    if (part < 0 || part > 2)
      throw ArgumentError("file", "has the part " + std::to_string(part) + ", expected 0, 1 or 2");
  }
}

KeptUsers positives(const Tensor& user, const Tensor& item, const Tensor& value, const Tensor& time, const Tensor& file,
                    int64_t users, int64_t items, double threshold, int64_t min_relevant, bool graded) {
  check::type("user", user, Dtype::int64);
  check::type("item", item, Dtype::int64);
  check::type("value", value, Dtype::float32);
  check::type("time", time, Dtype::int64);
  check_files(file);
  for (const Tensor* const each : {&time, &file}) {
    if (each->entries() != 0 && each->entries() != user.entries())
      throw ArgumentError(each == &time ? "time" : "file", "has " + std::to_string(each->entries()) +
                                                               " entries, expected one for each of " +
                                                               std::to_string(user.entries()) + " ratings, or none");
  }
  const Column<int64_t> users_of(user), items_of(item), times(time), files(file);
  const Column<float> values(value);
  return std::make_shared<const Positives>(
      positives_of({.user = users_of, .item = items_of, .value = values, .time = times, .file = files}, users, items,
                   threshold, min_relevant, graded));
}

SplitBy to_split(const std::string& name) {
  constexpr std::pair<const char*, SplitBy> names[] = {
      {"user", SplitBy::user},           {"time", SplitBy::time},   {"user_time", SplitBy::user_time},
      {"last", SplitBy::last},           {"one", SplitBy::one},     {"share", SplitBy::share},
      {"cold_user", SplitBy::cold_user}, {"given", SplitBy::given}, {"cold_item", SplitBy::cold_item},
  };
  for (const auto& [known, by] : names) {
    if (name == known) return by;
  }
  throw ArgumentError("by", "'" + name +
                                "' is not a way to divide ratings, expected user, time, user_time, last, one, share, "
                                "cold_user, cold_item or given");
}

struct PartTensors {
  Lists lists;
  Tensor users, items;
  static constexpr auto fields =
      lua::fields("lists", &PartTensors::lists, "users", &PartTensors::users, "items", &PartTensors::items);
};
struct FoldTensors {
  PartTensors train, valid, test;
  int64_t short_users, whole_users, new_users, new_items;
  static constexpr auto fields =
      lua::fields("train", &FoldTensors::train, "valid", &FoldTensors::valid, "test", &FoldTensors::test, "short_users",
                  &FoldTensors::short_users, "whole_users", &FoldTensors::whole_users, "new_users",
                  &FoldTensors::new_users, "new_items", &FoldTensors::new_items);
};

FoldTensors make_fold_of(const KeptUsers& kept, const std::string& by, int64_t folds, int64_t fold, int64_t nsr,
                         double valid, int64_t seed, int64_t n, double test, const std::optional<int64_t>& at) {
  Fold f = make_fold(*kept, {.folds = folds,
                             .fold = fold,
                             .nsr = nsr,
                             .valid = valid,
                             .seed = static_cast<uint64_t>(seed),
                             .by = to_split(by),
                             .n = n,
                             .test = test,
                             .at = at});
  const auto tensors = [](Part& p) -> PartTensors {
    return {Lists(std::move(p.sizes), std::move(p.relevance)), adopted(std::move(p.users)),
            adopted(std::move(p.items))};
  };
  return {tensors(f.train), tensors(f.valid), tensors(f.test), f.short_users, f.whole_users, f.new_users, f.new_items};
}

struct RatedTables {
  UserItems train, valid, test;
  static constexpr auto fields =
      lua::fields("train", &RatedTables::train, "valid", &RatedTables::valid, "test", &RatedTables::test);
};

/// Throws if the table of ratings lacks a row of the positives (relevant interactions), or if its columns differ in
/// length. Also throws if it lacks the times or files that the split `by` needs.
void check_details(const KeptUsers& kept, const Tensor& user, const Tensor& item, const RatingDetails& details,
                   SplitBy by) {
  const auto rows = static_cast<size_t>(user.entries());
  if (item.entries() != user.entries())
    throw ArgumentError("item", "has " + std::to_string(item.entries()) + " entries, expected one for each of " +
                                    std::to_string(rows) + " ratings");
  bool fits = true;
  for (size_t i = 0; i < kept->rows.size(); ++i) fits = fits && kept->rows[i] < user.entries();
  if (!fits)
    throw ArgumentError("user",
                        "has " + std::to_string(rows) + " entries, but the positives were made from more ratings");
  if ((by == SplitBy::time || by == SplitBy::last || by == SplitBy::user_time) && details.time.size() != rows)
    throw ArgumentError("time", "has " + std::to_string(details.time.size()) + " entries, expected one for each of " +
                                    std::to_string(rows) + " ratings");
  if (by == SplitBy::given && details.file.size() != rows)
    throw ArgumentError("file", "has " + std::to_string(details.file.size()) + " entries, expected one for each of " +
                                    std::to_string(rows) + " ratings");
}

void check_users(int64_t users) {
  constexpr int64_t most_users = int64_t{1} << 40;
  if (users > most_users)
    throw ArgumentError("users", std::to_string(users) + ", expected at most " + std::to_string(most_users));
}

RatedTables rated_by_part(const KeptUsers& kept, const Tensor& user, const Tensor& item, const Tensor& time,
                          const Tensor& file, int64_t users, const std::string& by, int64_t folds, int64_t fold,
                          double valid, int64_t seed, int64_t n, double test, const std::optional<int64_t>& at) {
  check_users(users);
  check::index("user", user, users);
  check::index("item", item, kept->all_items);
  check::type("time", time, Dtype::int64);
  check_files(file);
  const Column<int64_t> of_user(user), of_item(item), times(time), files(file);
  const RatingDetails details{.time = times, .file = files};
  const FoldOptions options{.folds = folds,
                            .fold = fold,
                            .valid = valid,
                            .seed = static_cast<uint64_t>(seed),
                            .by = to_split(by),
                            .n = n,
                            .test = test,
                            .at = at};
  check_details(kept, user, item, details, options.by);
  const std::vector<int8_t> parts = parts_of_ratings(*kept, options, of_user, of_item, details);
  const auto table = [&](int8_t part) {
    return user_item_table(users, kept->all_items, [&](auto&& take) {
      for (size_t row = 0; row < parts.size(); ++row) {
        if (parts[row] == part) take(of_user[row], of_item[row], 1.0F);
      }
    });
  };
  return {table(0), table(1), table(2)};
}

/// Returns a copy of the users' relevant items. Negatives of a user will be drawn only from items that the user has not
/// rated at all.
KeptUsers unrated_negatives(const KeptUsers& kept, const Tensor& user, const Tensor& item, int64_t users) {
  check_users(users);
  check::index("user", user, users);
  check::index("item", item, kept->all_items);
  check_details(kept, user, item, {}, SplitBy::user);
  for (const int64_t each : kept->users) {
    if (each > users)
      throw ArgumentError("users", std::to_string(users) + ", but the positives have user " + std::to_string(each) +
                                       ". Pass at least this number");
  }
  const Column<int64_t> of_user(user), of_item(item);
  const UserItems rated = user_item_table(users, kept->all_items, [&](auto&& take) {
    for (size_t row = 0; row < of_user.size(); ++row) take(of_user[row], of_item[row], 1.0F);
  });
  auto out = std::make_shared<Positives>(*kept);
  for (const int64_t each : kept->users)
    out->no_negatives.emplace_back(rated->items.begin() + rated->offsets[each - 1],
                                   rated->items.begin() + rated->offsets[each]);
  return out;
}

std::tuple<int64_t, int64_t> time_span(const Tensor& time) {
  check::type("time", time, Dtype::int64);
  const Column<int64_t> times(time);
  if (times.size() == 0) throw ArgumentError("time", "has no entries, expected timestamps");
  const auto [least, most] = std::minmax_element(times.begin(), times.end());
  return {*least, *most};
}

int64_t count_of(const KeptUsers& kept) { return static_cast<int64_t>(kept->users.size()); }
int64_t rows_of(const KeptUsers& kept) { return static_cast<int64_t>(kept->items.size()); }
int64_t distinct_items_of(const KeptUsers& kept) {
  std::vector<bool> there(static_cast<size_t>(kept->all_items) + 1);
  for (const int64_t item : kept->items) there[static_cast<size_t>(item)] = true;
  return std::count(there.begin(), there.end(), true);
}
int64_t longest_of(const KeptUsers& kept) {
  int64_t longest = 0;
  for (size_t u = 0; u < kept->users.size(); ++u) longest = std::max(longest, kept->offsets[u + 1] - kept->offsets[u]);
  return longest;
}
Tensor users_of(const KeptUsers& kept) { return Tensor::from(kept->users); }

}  // namespace

using lua::op;
extern const lua::OpTable data_functions{
    lua::OpTable::functions,
    nullptr,
    {
        op<&read_ratings_of>("read_ratings",
                             "paths, user, item, rating, rating_required, time, time_required, header, delimiter, "
                             "duplicates, width, placed",
                             "Users, items, ratings and times of tables, numbered, and what the tables call them."),
        op<&read_libraries_of>("read_libraries", "path",
                               "Ratings from lines \"count item item ...\", one line per user. All ratings are 1."),
        op<&read_csv_of>(
            "read_csv", "path, delimiter",
            "The rows of a CSV file, plain or gzipped: the fields of each as texts, and the line of each."),
        op<&read_pairs_of>("read_pairs", "path, key, value", "Pairs of fields from two columns of a table."),
        op<&make_ratings_of>("make_ratings", "users, items, factors, mean_activity, noise, seed", "Synthetic ratings."),
        op<&read_letor_of>("read_letor", "path, features, any_order, null, qid_optional",
                           "Lists and features of a LETOR file."),
        op<&read_letor_cached_of>(
            "read_letor_cached", "path, features, any_order, null, qid_optional, folder",
            "Like `read_letor`, with a cache file in a folder. Also returns why the cache could not be used."),
        op<&make_queries_of>("make_queries", "queries, features, mean_size, noise, seed",
                             "Synthetic queries: lists and features."),
        op<&join_lists>("join_lists", "parts", "Concatenates lists."),
        op<&letor_folds_of>("letor_folds", "folder",
                            "Paths of the train, valid and test files of each fold, separated by newlines."),
        op<&positives>("positives", "user, item, value, time, file, users, items, threshold, min_relevant, graded",
                       "Relevant items of the users with at least `min_relevant` of them."),
        op<&make_fold_of>("make_fold", "positives, by, folds, fold, nsr, valid, seed, n, test, at",
                          "Lists, users and items of train, valid and test."),
        op<&rated_by_part>(
            "rated_by_part", "positives, user, item, time, file, users, by, folds, fold, valid, seed, n, test, at",
            "The rated items of each user, as tables of train, valid and test. Includes ratings that are in no list."),
        op<&unrated_negatives>(
            "unrated_negatives", "positives, user, item, users",
            "A copy of `positives` whose negatives are drawn from items that the user has not rated."),
        op<&time_span>("time_span", "time", "The first and the last timestamp."),
    }};
extern const lua::OpTable positives_getters{
    lua::OpTable::getters,
    &lua::push_metatable<KeptUsers>,
    {
        op<&count_of>("count", "self", "Number of users."),
        op<&rows_of>("rows", "self", "Number of relevant items of all users."),
        op<&users_of>("users", "self", "The users; int64."),
        op<&distinct_items_of>("distinct_items", "self", "Number of distinct items of all users."),
        op<&longest_of>("longest", "self", "Largest number of items of a user."),
    }};

}  // namespace mr
