// Collects the rows of a file of documents with scores or grades.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/data/trec.h"
#include "runtime/tensor/name_table.h"

namespace mr {

/// Rows (documents with a score or grade) in the order of a file, or of a piece of a file.
class DocumentTable {
 public:
  /// Adds a row. `line` is its line in the file, or in the piece of the file.
  [[gnu::always_inline]] void add(std::string_view query, std::string_view document, float value, int64_t line) {
    if (runs_.empty() || runs_.back().line + runs_.back().rows != line ||
        !same_name(out_.ids[static_cast<size_t>(runs_.back().query)], query)) {
      runs_.push_back({number_of(query), line, 0});
    }
    ++runs_.back().rows;
    out_.documents.push_back(document);
    out_.values.push_back(value);
  }
  /// Returns the number of a query, from 0. A new query is added, at first without rows.
  int64_t number_of(std::string_view query);

  /// Reserves memory for this number of rows, with names of this length together.
  void reserve(size_t rows, size_t name_bytes);

  /// Appends the rows of the pieces of a file. `lines` has the number of lines of each piece.
  void append(const std::vector<DocumentTable>& pieces, const std::vector<int64_t>& lines);

  /// Returns the rows, grouped by query. Throws if there are no queries, or if a document occurs twice in a query.
  DocumentRows rows(const std::string& path) &&;

 private:
  /// Rows of one query that are on adjacent lines, the first of them on line `line`.
  struct Run {
    int64_t query, line, rows;
  };

  void group();
  void check_once(const std::string& path) const;
  int64_t line_of(int64_t row) const;

  DocumentRows out_;  // `sizes` is filled at the end, when all rows are there
  std::vector<Run> runs_;
  std::unordered_map<std::string, int64_t> numbers_;
};

}  // namespace mr
