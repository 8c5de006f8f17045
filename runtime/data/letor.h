// Judged queries with features: "label qid:id 1:v 2:v ... # comment", as LETOR, SVMlight and RankLib write them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace mr {

/// How to read a "NULL", as in LETOR 4.0's aggregation sets: as an error, as 0, or as a missing
/// value (NaN).
enum class Null : int8_t { refused, zero, missing };

struct LetorOptions {
  int64_t features = 0;    // number of features; 0: the largest id in the file
  bool any_order = false;  // feature ids need not ascend (the last of repeated ones counts)
  Null null = Null::refused;
  bool qid_optional = false;  // lines without qid: all rows are one list
};

/// Rows in the order of the file; features of shape rows x width, 0 where a line does not name them.
struct LetorFile {
  std::vector<float> labels;
  std::vector<int64_t> sizes;
  std::vector<std::string> qids,
      documents;  // documents: "docid = X" of the comment, else the comment; empty where no line has one
  Tensor features;
  int64_t width = 0;
};

constexpr int64_t letor_piece = int64_t{1} << 20;

/// Throws with file, line and column of the first bad line: a missing colon, ids that do not ascend, a word for a
/// number, a qid that returns, an empty file. Threads share pieces of about `piece_bytes`; the result and the error do
/// not depend on them.
LetorFile read_letor(const std::string& path, const LetorOptions& options, int64_t piece_bytes = letor_piece);

/// Like `read_letor`, for a file that is already open.
class LetorText;
LetorFile parse_letor(const LetorText& text, const LetorOptions& options);

/// Files of each fold: from "folds.tsv" (header fold, train, vali, test; partitions separated by commas); from folders
/// Fold1, Fold2, ... with train.txt, test.txt and perhaps vali.txt; from these files in the folder itself (one fold);
/// from partitions S1 ... Sn as LETOR rotates them (fold k trains on S(k) to S(k+n-3), the next is vali, the next
/// test); or from partitions P1 ... Pn, where P(k) is fold k's test and the others train. `valid` is empty where there
/// is none.
struct FoldPaths {
  std::vector<std::string> train, valid, test;
};
std::vector<FoldPaths> letor_fold_paths(const std::string& folder);

}  // namespace mr
