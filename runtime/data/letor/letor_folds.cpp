// Finds the files of each fold of a LETOR data set.
#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "runtime/data/csv.h"
#include "runtime/data/letor/letor.h"
#include "runtime/io/files/text_file.h"

namespace mr {
namespace {

namespace fs = std::filesystem;

/// Returns the path of folder/name, or of this name with ".txt", ".txt.gz" or ".gz". Returns "" if none of these files
/// exists.
std::string find_part(const fs::path& folder, const std::string& name) {
  for (const char* const ending : {"", ".txt", ".txt.gz", ".gz"}) {
    const fs::path path = folder / (name + ending);
    if (fs::is_regular_file(path)) return path.string();
  }
  return {};
}

std::string need_part(const fs::path& folder, const std::string& name) {
  std::string path = find_part(folder, name);
  if (path.empty())
    throw std::runtime_error(folder.string() + ": no partition '" + name + "' (" + name + ".txt or " + name +
                             ".txt.gz)");
  return path;
}

std::vector<std::string> parts_of(const fs::path& folder, const std::string& names) {
  std::vector<std::string> paths;
  for (size_t at = 0; at <= names.size();) {
    const size_t comma = std::min(names.find(',', at), names.size());
    paths.push_back(need_part(folder, names.substr(at, comma - at)));
    at = comma + 1;
  }
  return paths;
}

/// Throws if a fold has a file twice, as when it tests on a part of its training data.
void check_disjoint(const std::string& table, int64_t line, const FoldPaths& fold) {
  std::vector<std::string> paths;
  for (const auto* part : {&fold.train, &fold.valid, &fold.test}) paths.insert(paths.end(), part->begin(), part->end());
  std::sort(paths.begin(), paths.end());
  const auto twice = std::adjacent_find(paths.begin(), paths.end());
  if (twice == paths.end()) return;
  throw ParseError(table, line, 1,
                   "found the partition " + mr::quoted(fs::path(*twice).filename().string()) +
                       " twice in a fold, expected train, vali and test without a common partition");
}

std::vector<FoldPaths> from_table(const fs::path& folder) {
  CsvReader table((folder / "folds.tsv").string(), '\t');
  CsvRecord record;
  const std::vector<std::string> header{"fold", "train", "vali", "test"};
  if (!table.next(record) || record.fields != header)
    throw ParseError(table.path(), 1, 1,
                     "expected the header 'fold train vali test' (separated by tabs), found another first line");
  std::vector<FoldPaths> folds;
  while (table.next(record)) {
    if (record.fields.size() != header.size()) {
      throw ParseError(table.path(), record.line, 1,
                       "found " + std::to_string(record.fields.size()) + " fields, expected fold, train, vali, test");
    }
    folds.push_back(
        {parts_of(folder, record.fields[1]), parts_of(folder, record.fields[2]), parts_of(folder, record.fields[3])});
    check_disjoint(table.path(), record.line, folds.back());
  }
  if (folds.empty()) throw ParseError(table.path(), 2, 1, "found a header and no folds, expected at least one");
  return folds;
}

FoldPaths from_folder(const fs::path& folder) {
  FoldPaths fold{{need_part(folder, "train")}, {}, {need_part(folder, "test")}};
  if (const std::string valid = find_part(folder, "vali"); !valid.empty()) fold.valid.push_back(valid);
  return fold;
}

std::vector<FoldPaths> from_folders(const fs::path& folder) {
  std::vector<FoldPaths> folds;
  for (int number = 1; fs::is_directory(folder / ("Fold" + std::to_string(number))); ++number) {
    folds.push_back(from_folder(folder / ("Fold" + std::to_string(number))));
  }
  if (folds.empty() && !find_part(folder, "train").empty()) folds.push_back(from_folder(folder));
  return folds;
}

std::vector<std::string> numbered_parts(const fs::path& folder, const std::string& letter) {
  std::vector<std::string> parts;
  for (int number = 1; !find_part(folder, letter + std::to_string(number)).empty(); ++number) {
    parts.push_back(find_part(folder, letter + std::to_string(number)));
  }
  return parts;
}

std::vector<FoldPaths> from_rotation(const std::vector<std::string>& parts) {
  const size_t n = parts.size();
  std::vector<FoldPaths> folds;
  for (size_t k = 0; n >= 3 && k < n; ++k) {
    FoldPaths fold{{}, {parts[(k + n - 2) % n]}, {parts[(k + n - 1) % n]}};
    for (size_t i = 0; i + 2 < n; ++i) fold.train.push_back(parts[(k + i) % n]);
    folds.push_back(fold);
  }
  return folds;
}

std::vector<FoldPaths> from_test_parts(const std::vector<std::string>& parts) {
  std::vector<FoldPaths> folds;
  for (size_t k = 0; parts.size() >= 2 && k < parts.size(); ++k) {
    FoldPaths fold{{}, {}, {parts[k]}};
    for (size_t i = 0; i < parts.size(); ++i) {
      if (i != k) fold.train.push_back(parts[i]);
    }
    folds.push_back(fold);
  }
  return folds;
}

}  // namespace

std::vector<FoldPaths> letor_fold_paths(const std::string& folder) {
  // receives an error, for example that the name is too long; the folder is then reported as missing
  std::error_code unknown;
  if (!fs::is_directory(folder, unknown)) throw std::runtime_error(folder + ": no such folder");
  if (fs::exists(fs::path(folder) / "folds.tsv")) return from_table(folder);
  std::vector<FoldPaths> folds = from_folders(folder);
  if (folds.empty()) folds = from_rotation(numbered_parts(folder, "S"));
  if (folds.empty()) folds = from_test_parts(numbered_parts(folder, "P"));
  if (folds.empty()) {
    throw std::runtime_error(folder +
                             ": found no folds, expected folds.tsv, Fold1, train.txt and test.txt, or partitions S1 "
                             "to S3, or P1 and P2");
  }
  return folds;
}

}  // namespace mr
