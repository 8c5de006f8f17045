// Documents of queries with scores or grades: run and qrels files as TREC has them, and tables of scores.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/tensor/lists.h"

namespace mr {

/// Queries in the order in which they appear, the rows of each together and in the order of the file.
struct DocumentRows {
  std::vector<int64_t> sizes;
  std::vector<float> values;
  std::vector<std::string> ids, documents;  // of queries, of rows
};

/// Which columns of a table hold what: a name of the header, or a number from 1 where there is no header, and for those
/// in `placed`.
struct ScoreColumns {
  std::string query = "qid", document = "docid", score = "score";
  bool header = true;
  char delimiter = ',';
  std::vector<std::string> placed = {};  // those of "qid", "docid" and "score" that are numbers
};

/// Lines "query Q0 document rank score tag"; the rank is not read, as trec_eval does not. All three throw with file,
/// line and column: another number of fields, a word for a number, a document that is in a query twice, no rows.
DocumentRows read_trec_run(const std::string& path);
/// Lines "query iteration document grade" with whole grades. Those below 0 count as not judged, as in trec_eval; a
/// query may have no others.
DocumentRows read_trec_qrels(const std::string& path);
DocumentRows read_scores(const std::string& path, const ScoreColumns& columns);

/// Some queries of a run beside what is judged of them.
struct JudgedRun {
  Lists lists;                 // the run's rows, with the grade of each, 0 where it is not judged
  std::vector<int64_t> rows;   // which rows of the run these are, from 0
  Lists judgments;             // all that is judged of these queries
  std::vector<int64_t> place;  // of each judgment: the row of `lists` that it is of, from 1; 0: it is not in the run
};
/// `queries`: names that have to be in the qrels; those that are not in the run are lists without rows.
JudgedRun judge(const Lists& run, const Lists& qrels, const std::vector<std::string>& queries);

/// The text of a run file: documents by score, equal ones by their ids downwards, as trec_eval orders them. Names that
/// need an escape are errors unless `escape`.
std::string trec_run_text(const Lists& run, const Tensor& scores, const std::string& tag, bool escape);

/// True if a name cannot be a field of a run file as it is: it has blanks, or reads as an escaped one.
bool needs_escape(std::string_view name);
/// "%%", then the name with blanks and "%" as "%20" and the like: "%%New%20York".
std::string escaped_word(std::string_view name);
/// The name that `escaped_word` made this of; any other word as it is.
std::string unescaped_word(std::string_view word);

}  // namespace mr
