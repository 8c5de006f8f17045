// Reader for LETOR, SVMlight and RankLib files: queries with grades and features, in lines "label qid:id 1:v 2:v ... #
// comment".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace mr {

/// How to read a feature value "NULL", which occurs in the aggregation sets of LETOR 4.0: as an error, as 0, or as a
/// missing value (NaN).
enum class Null : int8_t { refused, zero, missing };

struct LetorOptions {
  int64_t features = 0;    // number of features; 0 means the largest feature id in the file
  bool any_order = false;  // accepts feature ids in any order; if an id is repeated, its last value counts
  Null null = Null::refused;
  bool qid_optional = false;  // accepts lines without a qid; all rows are then one list
};

/// The content of a LETOR file. Rows are in the order of the file, and `features` is a matrix [rows, width]. A feature
/// that a line does not name is 0.
struct LetorFile {
  std::vector<float> labels;
  std::vector<int64_t> sizes;
  std::vector<std::string> qids,
      // a document's name is X if the comment is "docid = X ...", else the whole comment; empty if no line has a
      // comment
      documents;
  Tensor features;
  int64_t width = 0;
};

constexpr int64_t letor_piece = int64_t{1} << 20;

/// Reads a LETOR file. Errors name file, line and column of the first bad line: a missing colon, descending ids, a word
/// instead of a number, a qid that occurs again after other queries, or an empty file. Threads read pieces of about
/// `piece_bytes`; results and errors do not depend on how the file is divided.
LetorFile read_letor(const std::string& path, const LetorOptions& options, int64_t piece_bytes = letor_piece);

/// Like `read_letor`, but reads the text of a file that is already open.
class TextPieces;
LetorFile parse_letor(const TextPieces& text, const LetorOptions& options);

/// The files of each fold in a data set's folder; `valid` is empty if there is no validation part. The first of these
/// forms that is found is used. (1) The table folds.tsv with the header fold, train, vali, test; several files of a
/// part are separated by commas. (2) Folders Fold1, Fold2, ... with train.txt, test.txt and perhaps vali.txt. (3) These
/// files in the folder itself, as one fold. (4) Partitions S1 ... Sn in LETOR's rotation: fold k trains on S(k) to
/// S(k+n-3), validates on the next one and tests on the one after. (5) Partitions P1 ... Pn: fold k tests on P(k) and
/// trains on the others.
struct FoldPaths {
  std::vector<std::string> train, valid, test;
};
std::vector<FoldPaths> letor_fold_paths(const std::string& folder);

}  // namespace mr
