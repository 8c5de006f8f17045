#include "runtime/data/document_table.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "kernels/core/patient.h"
#include "kernels/core/scratch.h"
#include "runtime/io/files/text_file.h"
#include "runtime/tensor/name_order.h"

namespace mr {

int64_t DocumentTable::number_of(std::string_view query) {
  const auto [at, is_new] = numbers_.try_emplace(std::string(query), static_cast<int64_t>(out_.ids.size()));
  if (is_new) out_.ids.emplace_back(query);
  return at->second;
}

void DocumentTable::reserve(size_t rows, size_t name_bytes) {
  out_.documents.reserve(rows, name_bytes);
  out_.values.reserve(rows);
}

void DocumentTable::append(const std::vector<DocumentTable>& pieces, const std::vector<int64_t>& lines) {
  std::vector<const Names*> names;
  std::vector<size_t> starts = {out_.values.size()};
  int64_t lines_before = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const DocumentTable& piece = pieces[i];
    std::vector<int64_t> numbers;
    for (const std::string& id : piece.out_.ids) numbers.push_back(number_of(id));
    for (const Run& run : piece.runs_)
      runs_.push_back({numbers[static_cast<size_t>(run.query)], lines_before + run.line, run.rows});
    names.push_back(&piece.out_.documents);
    starts.push_back(starts.back() + piece.out_.values.size());
    lines_before += lines[i];
  }
  out_.documents.append(names);
  out_.values.resize(starts.back());
  cpu::parallel_each(static_cast<int64_t>(pieces.size()), 1, [&](int64_t i) {
    const std::vector<float>& values = pieces[i].out_.values;
    std::copy(values.begin(), values.end(), out_.values.begin() + static_cast<int64_t>(starts[i]));
  });
}

DocumentRows DocumentTable::rows(const std::string& path) && {
  if (out_.ids.empty()) throw ParseError(path, 1, 1, "found no rows, expected documents of queries");
  group();
  out_.sizes.assign(out_.ids.size(), 0);
  for (const Run& run : runs_) out_.sizes[static_cast<size_t>(run.query)] += run.rows;
  check_once(path);
  return std::move(out_);
}

/// Reorders the rows, so that the rows of each query are adjacent.
void DocumentTable::group() {
  const auto less = [](const Run& a, const Run& b) { return a.query < b.query; };
  if (std::is_sorted(runs_.begin(), runs_.end(), less)) return;
  struct Part {
    Run run;
    size_t first;
  };
  std::vector<Part> parts;
  parts.reserve(runs_.size());
  size_t rows = 0;
  for (const Run& run : runs_) {
    parts.push_back({run, rows});
    rows += static_cast<size_t>(run.rows);
  }
  std::stable_sort(parts.begin(), parts.end(),
                   cpu::patient([&](const Part& a, const Part& b) { return less(a.run, b.run); }));
  Names documents;
  documents.reserve(rows, out_.documents.bytes());
  std::vector<float> values;
  values.reserve(rows);
  runs_.clear();
  for (const auto& [run, first] : parts) {
    const auto count = static_cast<size_t>(run.rows);
    documents.append(out_.documents, first, count);
    values.insert(values.end(), out_.values.begin() + static_cast<int64_t>(first),
                  out_.values.begin() + static_cast<int64_t>(first + count));
    runs_.push_back(run);
  }
  out_.documents = std::move(documents);
  out_.values = std::move(values);
}

void DocumentTable::check_once(const std::string& path) const {
  const auto count = static_cast<int64_t>(out_.sizes.size());
  std::vector<int64_t> starts(out_.sizes.size());
  std::exclusive_scan(out_.sizes.begin(), out_.sizes.end(), starts.begin(), int64_t{0});
  std::vector<std::optional<RepeatedName>> repeated(out_.sizes.size());
  cpu::parallel_each(count, lists_per_task(count, static_cast<int64_t>(out_.values.size())), [&](int64_t q) {
    repeated[q] = first_repeated({out_.documents, static_cast<size_t>(starts[q]), static_cast<size_t>(out_.sizes[q])});
  });
  for (int64_t q = 0; q < count; ++q) {
    if (!repeated[q]) continue;
    const int64_t again = starts[q] + repeated[q]->again;
    throw ParseError(path, line_of(again), 1,
                     "found document " + mr::quoted(out_.documents[static_cast<size_t>(again)]) + " of query " +
                         mr::quoted(out_.ids[static_cast<size_t>(q)]) + " a second time (first at line " +
                         std::to_string(line_of(starts[q] + repeated[q]->before)) + "), expected each document once");
  }
}

/// Returns the line on which a row is. The rows must be grouped.
int64_t DocumentTable::line_of(int64_t row) const {
  auto run = runs_.begin();
  for (; row >= run->rows; ++run) row -= run->rows;
  return run->line + row;
}

}  // namespace mr
