// Joins runs (a system's ranked documents) with judgments, and writes run files: Lua functions for TREC files.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "kernels/core/threads.h"
#include "runtime/data/trec.h"
#include "runtime/io/files/new_file.h"
#include "runtime/io/files/text_file.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/ops/lists.h"
#include "runtime/ranking/ranking.h"
#include "runtime/tensor/name_order.h"

namespace mr {
namespace {

using Numbers = std::unordered_map<std::string_view, int64_t>;

/// Maps the id of each query to the position of its list, counted from 0. Throws if an id occurs twice.
Numbers numbers_of(const char* argument, const Lists& lists) {
  const std::vector<std::string>& ids = lists.ids();
  if (static_cast<int64_t>(ids.size()) != lists.count())
    throw ArgumentError(argument, "has lists without query ids, expected an id for each list");
  Numbers numbers;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (!numbers.try_emplace(ids[i], static_cast<int64_t>(i)).second)
      throw ArgumentError(argument, "query " + mr::quoted(ids[i]) + " occurs twice, expected each query once");
  }
  return numbers;
}

void check_documents(const char* argument, const Lists& lists) {
  if (static_cast<int64_t>(lists.documents().size()) != lists.rows())
    throw ArgumentError(argument, "has rows without document names, expected a name for each");
}

/// Throws if a document occurs twice in a list. `order` has the list's documents sorted by name.
void check_once(const char* argument, const Lists& lists, int64_t list, const std::vector<int64_t>& order) {
  const NameSpan documents = documents_of(lists, list);
  if (const std::optional<RepeatedName> found = first_repeated(documents, order)) {
    throw ArgumentError(argument, "document " + mr::quoted(documents[found->again]) + " of query " +
                                      mr::quoted(lists.ids()[list]) + " occurs twice, expected each document once");
  }
}

/// A query that is joined: its list in the run (nothing if it is not there) and in the qrels, and where its first row
/// and its first judgment are written.
struct JudgedQuery {
  std::optional<int64_t> in_run;
  int64_t in_qrels, first_row, first_judgment;
};

/// Joins the documents that the run has for a query with the query's judgments. It goes through both in the order of
/// document names.
void join(const Lists& run, const Lists& qrels, const JudgedQuery& query, int64_t* place, float* grades) {
  const NameSpan judged = documents_of(qrels, query.in_qrels);
  const std::vector<int64_t> of_judged = name_order(judged);
  check_once("qrels", qrels, query.in_qrels, of_judged);
  if (!query.in_run) return;
  const NameSpan found = documents_of(run, *query.in_run);
  const std::vector<int64_t> of_found = name_order(found);
  check_once("run", run, *query.in_run, of_found);
  auto next = of_judged.begin();
  for (const int64_t row : of_found) {
    while (next != of_judged.end() && judged[*next] < found[row]) ++next;
    if (next == of_judged.end() || judged[*next] != found[row]) continue;
    grades[query.first_row + row] = qrels.relevance()[qrels.offsets()[query.in_qrels] + *next];
    place[query.first_judgment + *next] = query.first_row + row + 1;
  }
}

}  // namespace

JudgedRun judge(const Lists& run, const Lists& qrels, const std::vector<std::string>& queries) {
  check_documents("run", run);
  check_documents("qrels", qrels);
  const Numbers numbers_in_run = numbers_of("run", run), numbers_in_qrels = numbers_of("qrels", qrels);
  std::vector<JudgedQuery> each;
  std::vector<int64_t> judged, sizes, rows;
  Names documents;
  int64_t judgments = 0;
  for (const std::string& query : queries) {
    cpu::check_interrupt();
    const auto known = numbers_in_qrels.find(query), found = numbers_in_run.find(query);
    if (known == numbers_in_qrels.end()) throw ArgumentError("queries", mr::quoted(query) + " is not in the qrels");
    const bool is_there = found != numbers_in_run.end();
    each.push_back({is_there ? std::optional(found->second) : std::nullopt, known->second,
                    static_cast<int64_t>(rows.size()), judgments});
    judged.push_back(known->second);
    judgments += qrels.sizes()[known->second];
    sizes.push_back(is_there ? run.sizes()[found->second] : 0);
    if (!is_there) continue;
    for (int64_t i = 0; i < sizes.back(); ++i) rows.push_back(run.offsets()[found->second] + i);
    documents.append(run.documents(), static_cast<size_t>(run.offsets()[found->second]),
                     static_cast<size_t>(sizes.back()));
  }
  std::vector<float> grades(rows.size());
  std::vector<int64_t> place(static_cast<size_t>(judgments));
  const auto count = static_cast<int64_t>(each.size());
  cpu::parallel_each(count, lists_per_task(count, static_cast<int64_t>(rows.size()) + judgments),
                     [&](int64_t i) { join(run, qrels, each[i], place.data(), grades.data()); });
  return {Lists(std::move(sizes), std::move(grades), queries, std::move(documents)), std::move(rows),
          qrels.select(judged), std::move(place)};
}

namespace {

/// Returns the form of a name in a run file. Throws if the name must be escaped, for example because of a blank, and
/// `escape` is false.
std::string written_word(const char* argument, std::string_view word, bool escape) {
  if (word.empty()) throw ArgumentError(argument, "is '', expected a word, which run files require");
  if (!needs_escape(word)) return std::string(word);
  if (escape) return escaped_word(word);
  throw ArgumentError(argument,
                      "found " + mr::quoted(word) +
                          ", expected a word that has no blanks and does not begin with %%, as run files require: "
                          "escape = true writes other names in an escaped form");
}

template <class Real>
void append_number(std::string& text, Real value) {
  char digits[32];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

}  // namespace

std::string trec_run_text(const Lists& run, const Tensor& scores, const std::string& tag, bool escape) {
  check::per_row("scores", scores, run);
  check_documents("run", run);
  numbers_of("run", run);
  written_word("tag", tag, false);
  std::vector<std::string> queries, documents;
  for (const std::string& id : run.ids()) queries.push_back(written_word("query", id, escape));
  const Names& names = run.documents();
  for (size_t row = 0; row < names.size(); ++row) documents.push_back(written_word("document", names[row], escape));
  const std::vector<int64_t> order =
      order_of(rank_rows(scores, run, Ties::trec, 1)).to(Device::cpu).to_vector<int64_t>();
  std::string text;
  with_real(scores.dtype(), [&]<class Real>() {
    const std::vector<Real> values = scores.to_vector<Real>();
    for (int64_t list = 0; list < run.count(); ++list) {
      cpu::check_interrupt();
      check_once("run", run, list, name_order(documents_of(run, list)));
      for (int64_t i = 0; i < run.sizes()[list]; ++i) {
        const auto row = static_cast<size_t>(order[run.offsets()[list] + i] - 1);
        if (!std::isfinite(values[row])) {
          throw ArgumentError("scores", "document " + mr::quoted(run.documents()[row]) + " of query " +
                                            mr::quoted(run.ids()[list]) + " has " + std::to_string(values[row]) +
                                            ", expected a finite number");
        }
        text.append(queries[static_cast<size_t>(list)]).append(" Q0 ").append(documents[row]).append(" ");
        append_number(text, i + 1);
        append_number(text += ' ', values[row]);
        text.append(" ").append(tag).append("\n");
      }
    }
  });
  return text;
}

namespace {

std::tuple<Lists, Tensor> as_run(DocumentRows rows) {
  std::vector<float> grades(rows.values.size());
  return {Lists(std::move(rows.sizes), std::move(grades), std::move(rows.ids), std::move(rows.documents)),
          Tensor::from(rows.values)};
}

std::tuple<Lists, Tensor> read_trec_run_of(const std::string& path) { return as_run(read_trec_run(path)); }

Lists read_trec_qrels_of(const std::string& path) {
  DocumentRows rows = read_trec_qrels(path);
  return {std::move(rows.sizes), std::move(rows.values), std::move(rows.ids), std::move(rows.documents)};
}

std::tuple<Lists, Tensor> read_scores_of(const std::string& path, const std::string& query, const std::string& document,
                                         const std::string& score, bool header, const std::string& delimiter,
                                         std::optional<std::vector<std::string>> placed) {
  if (delimiter.size() != 1) throw ArgumentError("delimiter", "'" + delimiter + "', expected one character");
  return as_run(read_scores(path, {.query = query,
                                   .document = document,
                                   .score = score,
                                   .header = header,
                                   .delimiter = delimiter[0],
                                   .placed = std::move(placed).value_or(std::vector<std::string>{})}));
}

struct JudgedTensors {
  Lists lists;
  Tensor scores;
  Lists judgments;
  Tensor place, retrieved;
  static constexpr auto fields =
      lua::fields("lists", &JudgedTensors::lists, "scores", &JudgedTensors::scores, "judgments",
                  &JudgedTensors::judgments, "place", &JudgedTensors::place, "retrieved", &JudgedTensors::retrieved);
};

JudgedTensors judge_of(const Lists& run, const Tensor& scores, const Lists& qrels,
                       const std::vector<std::string>& queries) {
  check::per_row("scores", scores, run);
  JudgedRun judged = judge(run, qrels, queries);
  const std::vector<double> all = scores.to(Dtype::float64).to_vector<double>();
  std::vector<double> chosen;
  chosen.reserve(judged.rows.size());
  for (const int64_t row : judged.rows) chosen.push_back(all[row]);
  std::vector<double> retrieved;
  for (int64_t& place : judged.place) {
    retrieved.push_back(place > 0 ? 1 : 0);
    // place 0 means that the document is not in the run; 1 is put there, so that it is a valid index
    place = std::max<int64_t>(place, 1);
  }
  return {std::move(judged.lists), Tensor::from(chosen), std::move(judged.judgments), Tensor::from(judged.place),
          Tensor::from(retrieved)};
}

void write_trec_run(const std::string& path, const Lists& run, const Tensor& scores, const std::string& tag,
                    bool escape) {
  io::write_file(path, {trec_run_text(run, scores, tag, escape)}, &io::replace_any);
}

}  // namespace

using lua::op;
extern const lua::OpTable trec_functions{
    lua::OpTable::functions,
    nullptr,
    {
        op<&read_trec_run_of>("read_trec_run", "path", "Lists and scores of a run file."),
        op<&read_trec_qrels_of>("read_trec_qrels", "path",
                                "Lists of a qrels file. Rows with grades below 0 are left out."),
        op<&read_scores_of>("read_scores", "path, query, document, score, header, delimiter, placed",
                            "Lists and scores of a table."),
        op<&judge_of>("judge", "run, scores, qrels, queries",
                      "The given queries of a run with grades, their scores in float64, all judgments of these "
                      "queries, and for each judgment its row in the run (0 if it is not retrieved)."),
        op<&write_trec_run>("write_trec_run", "path, run, scores, tag, escape",
                            "Writes a run file. An existing regular file is replaced."),
    }};

}  // namespace mr
