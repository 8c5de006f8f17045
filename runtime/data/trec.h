// Readers for files of documents with scores or grades for each query: run and qrels files of TREC, and tables of
// scores.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/tensor/lists.h"

namespace mr {

/// Queries and their documents, as read from a file. Queries are in the order in which they first appear, and the
/// documents of a query are in the order of the file. `values` has a score or a grade per document.
struct DocumentRows {
  std::vector<int64_t> sizes;
  std::vector<float> values;
  std::vector<std::string> ids;  // names of the queries (qids)
  Names documents;               // names of the rows (document ids)
};

/// The columns of a table of scores. They are given by their names in the header; without a header, and for the columns
/// in `placed`, by numbers from 1.
struct ScoreColumns {
  std::string query = "qid", document = "docid", score = "score";
  bool header = true;
  char delimiter = ',';
  // which of the columns "qid", "docid" and "score" are given by their number, not by name
  std::vector<std::string> placed = {};
};

/// Reads a TREC run file with lines "query Q0 document rank score tag". The rank is ignored, as by trec_eval. Errors of
/// this and the other readers in this file name file, line and column: a wrong number of fields, a word instead of a
/// number, a document that occurs twice in a query, or a file without rows.
DocumentRows read_trec_run(const std::string& path);
/// Reads a TREC qrels file with lines "query iteration document grade", where grades are integers. Grades below 0 count
/// as not judged, as in trec_eval. A query may have such grades only.
DocumentRows read_trec_qrels(const std::string& path);
DocumentRows read_scores(const std::string& path, const ScoreColumns& columns);

/// The documents that a run has for some queries, joined with their judgments.
struct JudgedRun {
  // documents of the run for the given queries, with their grades; documents without judgment have grade 0
  Lists lists;
  std::vector<int64_t> found;  // for each query, the number of its list in the run, from 0, or -1 if it is not there
  Lists judgments;             // all judged documents of the given queries, with their grades
  int64_t retrieved;           // number of judged documents that are in the run
};
/// Joins a run with its judgments, for the given queries. All of them must be in the qrels. A query that is not in the
/// run becomes an empty list.
JudgedRun judge(const Lists& run, const Lists& qrels, const std::vector<std::string>& queries);
/// Returns, for each judged document, its row in a run, from 1, or 0 if it is not in the run. Both lists have the same
/// queries in the same order.
std::vector<int64_t> places_of_judged(const Lists& run, const Lists& judgments);

/// Returns the text of a TREC run file with these scores. Documents are sorted by score; equal scores are in descending
/// order of document ids, as in trec_eval. If `escape` is false, names that cannot be written unchanged are errors.
std::string trec_run_text(const Lists& run, const Tensor& scores, const std::string& tag, bool escape);

/// Returns true if a name cannot be written to a run file unchanged: it has blanks, or looks like an escaped name.
bool needs_escape(std::string_view name);
/// Escapes a name: "%%", then the name with blanks and "%" in percent encoding, as in "%%New%20York".
std::string escaped_word(std::string_view name);
/// Reverses `escaped_word`, which escapes blanks in a name. Words that are not escaped stay unchanged.
std::string unescaped_word(std::string_view word);

}  // namespace mr
