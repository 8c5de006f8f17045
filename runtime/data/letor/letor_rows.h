// Parses the rows of a piece of a LETOR file, which is a range of lines that one thread reads.
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
    bool listed = false;  // true if the line's feature ids are stored in `ids`; false if they are simply 1 to `count`
  };
  struct Query {
    std::string id;
    int64_t first_row, line, column;
  };
  std::vector<float> labels;
  std::vector<Row> rows;
  std::vector<Query> queries;  // one entry for each sequence of lines with the same qid
  std::vector<std::string> documents;
  std::unique_ptr<float[]> values;
  std::vector<int32_t> ids;
  // the largest feature id in this part of the file, and the number of the first line that has it
  int64_t width = 0, widest_line = 0;
  // number of lines in this part of the file; line numbers count from the start of the part, not of the file
  int64_t lines = 0;
  // if `bad` is true, the text of the first line that cannot be parsed; later lines were not parsed
  std::string bad_line;
  bool named = false, bad = false;
};

/// Parses the rows in `piece`, a part of a LETOR file. `readable` begins with the piece and is longer: the fast number
/// parser may read up to its end.
LetorRows letor_rows(std::string_view piece, std::string_view readable, const std::string& path,
                     const LetorOptions& options);

/// Parses a line that cannot be parsed once more, now with its number in the file, to throw its error.
[[noreturn]] void bad_letor_line(std::string_view line, int64_t number, const std::string& path,
                                 const LetorOptions& options);

}  // namespace mr
