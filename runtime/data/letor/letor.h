// Reader for queries with grades and features, "label qid:id 1:v 2:v ... # comment", as of LETOR, SVMlight and RankLib.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace mr {

/// How to read "NULL", which occurs in LETOR 4.0's aggregation sets: as an error, as 0, or as a missing value (NaN).
enum class Null : int8_t { refused, zero, missing };

struct LetorOptions {
  int64_t features = 0;    // number of features; 0: the largest feature id in the file
  bool any_order = false;  // feature ids may be in any order (of repeated ids the last one counts)
  Null null = Null::refused;
  bool qid_optional = false;  // lines may lack a qid; all rows are then one list
};

/// Rows in the order of the file, with features [rows, width]; a feature that a line does not name is 0.
struct LetorFile {
  std::vector<float> labels;
  std::vector<int64_t> sizes;
  std::vector<std::string> qids,
      documents;  // documents: X of "docid = X" in the comment, else the whole comment; empty if no line has a comment
  Tensor features;
  int64_t width = 0;
};

constexpr int64_t letor_piece = int64_t{1} << 20;

/// Throws with file, line and column of the first bad line: a missing colon, descending ids, a word instead of a
/// number, a qid that occurs again after other queries, an empty file. Threads share pieces of about `piece_bytes`;
/// results and errors do not depend on the pieces.
LetorFile read_letor(const std::string& path, const LetorOptions& options, int64_t piece_bytes = letor_piece);

/// Like `read_letor`, for a file that is already open.
class TextPieces;
LetorFile parse_letor(const TextPieces& text, const LetorOptions& options);

/// The files of each fold. They are found by "folds.tsv" (header fold, train, vali, test; partitions separated by
/// commas); in folders Fold1, Fold2, ... with train.txt, test.txt and perhaps vali.txt; as these files in the folder
/// itself (one fold); as partitions S1 ... Sn in LETOR's rotation (fold k trains on S(k) to S(k+n-3), validates on the
/// next one and tests on the one after); or as partitions P1 ... Pn, where fold k tests on P(k) and trains on the
/// others. `valid` is empty if there is none.
struct FoldPaths {
  std::vector<std::string> train, valid, test;
};
std::vector<FoldPaths> letor_fold_paths(const std::string& folder);

}  // namespace mr
