// Parses the rows of a piece of a LETOR file: a range of lines that one thread reads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/data/letor/letor.h"

namespace mr {

struct LetorRows {
  struct Row {
    int64_t count = 0;    // number of feature values in the line
    bool listed = false;  // true: feature ids are in `ids`; false: they are 1 to `count`
  };
  struct Query {
    std::string id;
    int64_t first_row, line, column;
  };
  std::vector<float> labels;
  std::vector<Row> rows;
  std::vector<Query> queries;  // one entry for each run of lines with the same qid
  std::vector<std::string> documents;
  std::unique_ptr<float[]> values;
  std::vector<int32_t> ids;
  int64_t width = 0, widest_line = 0;  // the largest feature id of the piece, and the first line with that id
  int64_t lines = 0;                   // number of lines; all line numbers here count from the start of the piece
  std::string bad_line;                // if `bad`: the first line that cannot be parsed; later lines are not parsed
  bool named = false, bad = false;
};

/// Parses the rows of a piece of the text. Memory up to the end of `readable`, which starts with the piece, may be
/// read.
LetorRows letor_rows(std::string_view piece, std::string_view readable, const std::string& path,
                     const LetorOptions& options);

/// Parses one bad line again to throw its error.
[[noreturn]] void bad_letor_line(std::string_view line, int64_t number, const std::string& path,
                                 const LetorOptions& options);

}  // namespace mr
