// Readers for documents of queries with scores or grades: run and qrels files of TREC, and tables of scores.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/tensor/lists.h"

namespace mr {

/// Queries in the order in which they first appear. The rows of a query are together, in the order of the file.
struct DocumentRows {
  std::vector<int64_t> sizes;
  std::vector<float> values;
  std::vector<std::string> ids, documents;  // names of the queries (qids), and names of the rows (document ids)
};

/// The columns to read: names in the header, or numbers from 1 if there is no header and for columns in `placed`.
struct ScoreColumns {
  std::string query = "qid", document = "docid", score = "score";
  bool header = true;
  char delimiter = ',';
  std::vector<std::string> placed = {};  // columns among "qid", "docid", "score" that are given by number, not by name
};

/// Reads lines "query Q0 document rank score tag". The rank is ignored, as by trec_eval. All readers here throw with
/// file, line and column: a wrong number of fields, a word instead of a number, a document that occurs twice in a
/// query, no rows.
DocumentRows read_trec_run(const std::string& path);
/// Reads lines "query iteration document grade" with integer grades. Grades below 0 count as not judged, as in
/// trec_eval; all grades of a query may be below 0.
DocumentRows read_trec_qrels(const std::string& path);
DocumentRows read_scores(const std::string& path, const ScoreColumns& columns);

/// The rows of some queries of a run, joined with their judgments.
struct JudgedRun {
  Lists lists;                 // rows of the run for the given queries, with grades; 0 for rows without judgment
  std::vector<int64_t> rows;   // for each row of `lists`: its index in the run, from 0
  Lists judgments;             // all judgments of the given queries, as lists of judged documents
  std::vector<int64_t> place;  // for each judgment: its row in `lists`, from 1; 0 if it is not in the run
};
/// Joins a run with its judgments. `queries`: names that must be in the qrels. Queries that are not in the run become
/// empty lists.
JudgedRun judge(const Lists& run, const Lists& qrels, const std::vector<std::string>& queries);

/// Returns the text of a run file. Documents are sorted by score; equal scores by descending document id, as in
/// trec_eval. Names that need an escape are errors unless `escape`.
std::string trec_run_text(const Lists& run, const Tensor& scores, const std::string& tag, bool escape);

/// Returns true if a name cannot be written to a run file unchanged: it has blanks, or looks like an escaped name.
bool needs_escape(std::string_view name);
/// Escapes a name: "%%", then the name with blanks and "%" in percent encoding, as in "%%New%20York".
std::string escaped_word(std::string_view name);
/// Reverses `escaped_word`. Words that are not escaped stay unchanged.
std::string unescaped_word(std::string_view word);

}  // namespace mr
