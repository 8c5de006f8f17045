// The rows of a piece of a LETOR file, in the order of the file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/data/letor.h"

namespace mr {

struct LetorRows {
  struct Row {
    int64_t count = 0;    // of its values
    bool listed = false;  // its features are in `ids`; otherwise they are 1 to `count`
  };
  struct Query {
    std::string id;
    int64_t first_row, line, column;
  };
  std::vector<float> labels;
  std::vector<Row> rows;
  std::vector<Query> queries;  // where the qid changes
  std::vector<std::string> documents;
  std::unique_ptr<float[]> values;
  std::vector<int32_t> ids;
  int64_t width = 0, widest_line = 0;  // the largest feature and the first line that has it
  int64_t lines = 0;                   // counted from 1 at the start of the piece, as all lines here
  std::string bad_line;                // the first that cannot be read, if `bad`; nothing after it is here
  bool named = false, bad = false;
};

/// The rows of a piece, in memory that begins with it: up to `readable` behind it may be read.
LetorRows letor_rows(std::string_view piece, std::string_view readable, const std::string& path,
                     const LetorOptions& options);

/// Throws what is wrong with this line.
[[noreturn]] void bad_letor_line(std::string_view line, int64_t number, const std::string& path,
                                 const LetorOptions& options);

}  // namespace mr
