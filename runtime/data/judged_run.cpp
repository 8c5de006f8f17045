// Joins runs (a system's ranked documents) with judgments, and writes run files: Lua functions for TREC files.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>

#include "kernels/core/scratch.h"
#include "kernels/core/threads.h"
#include "runtime/data/adopted.h"
#include "runtime/data/trec.h"
#include "runtime/io/files/new_file.h"
#include "runtime/io/files/text_file.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/ops/lists.h"
#include "runtime/ranking/ranking.h"
#include "runtime/tensor/name_order.h"
#include "runtime/tensor/name_table.h"

namespace mr {
namespace {

using IdTable = NameTable<std::span<const std::string>>;

/// Returns the table of the ids of queries. Throws if there is not one id for each list, or if an id occurs twice.
IdTable table_of_ids(const char* argument, const Lists& lists, std::vector<uint64_t>& slots) {
  const std::vector<std::string>& ids = lists.ids();
  if (static_cast<int64_t>(ids.size()) != lists.count())
    throw ArgumentError(argument, "has lists without query ids, expected an id for each list");
  const IdTable table(ids, slots);
  if (table.repeated()) {
    throw ArgumentError(argument, "query " + mr::quoted(ids[static_cast<size_t>(table.repeated()->again)]) +
                                      " occurs twice, expected each query once");
  }
  return table;
}

void check_documents(const char* argument, const Lists& lists) {
  if (static_cast<int64_t>(lists.documents().size()) != lists.rows())
    throw ArgumentError(argument, "has rows without document names, expected a name for each");
}

/// Throws if a document occurs twice in a list.
void check_once(const char* argument, const Lists& lists, int64_t list, const std::optional<RepeatedName>& repeated) {
  if (!repeated) return;
  throw ArgumentError(argument, "document " + mr::quoted(documents_of(lists, list)[repeated->again]) + " of query " +
                                    mr::quoted(lists.ids()[list]) + " occurs twice, expected each document once");
}

struct DifferKey {
  auto operator<=>(const DifferKey&) const = default;
};

/// True if a reader of files has checked that no document occurs twice in a list.
bool documents_differ(const Lists& lists) {
  return lists.cached<bool>(DifferKey{}, [] { return false; });
}

/// Returns lists that a reader of files has made. It has checked that no document occurs twice in a list.
Lists with_different_documents(const Lists& lists) {
  lists.cached<bool>(DifferKey{}, [] { return true; });
  return lists;
}

/// A query that is joined: its list in the run (-1 if it is not there) and in the qrels, and where its first row is
/// written.
struct JudgedQuery {
  int64_t in_run, in_qrels, first_row;
};

/// Calls f(NameTable of the names), with memory that the thread reuses.
template <class F>
void with_table(NameSpan names, F f) {
  static constinit thread_local cpu::OfThread<std::vector<uint64_t>> the_slots;
  std::vector<uint64_t>& slots = the_slots.get();
  const cpu::Kept kept(slots);
  f(NameTable(names, slots));
}

/// Calls f(position among `names`, position in the table) for each name that the table has.
template <class F>
void each_found(NameSpan names, const NameTable<NameSpan>& table, F f) {
  for (size_t i = 0; i < names.size(); ++i) {
    if ((i & 0xFFFF) == 0xFFFF) cpu::check_interrupt();
    const int64_t position = table.find(names[i]);
    if (position >= 0) f(static_cast<int64_t>(i), position);
  }
}

/// Writes the grades of the documents that the run has for a query. `is_checked`: the run's documents differ. Returns
/// how many of them are judged.
int64_t join(const Lists& run, const Lists& qrels, const JudgedQuery& query, bool is_checked, float* grades) {
  int64_t retrieved = 0;
  with_table(documents_of(qrels, query.in_qrels), [&](const NameTable<NameSpan>& judged) {
    check_once("qrels", qrels, query.in_qrels, judged.repeated());
    if (query.in_run < 0) return;
    const NameSpan found = documents_of(run, query.in_run);
    if (!is_checked) check_once("run", run, query.in_run, first_repeated(found));
    const float* const known = qrels.relevance().data() + qrels.offsets()[query.in_qrels];
    each_found(found, judged, [&](int64_t row, int64_t judgment) {
      grades[query.first_row + row] = known[judgment];
      ++retrieved;
    });
  });
  return retrieved;
}

/// True if the numbers of the chosen lists are those of all lists, in order.
bool are_all(const std::vector<int64_t>& chosen, const Lists& lists) {
  for (size_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i] != static_cast<int64_t>(i)) return false;
  }
  return static_cast<int64_t>(chosen.size()) == lists.count();
}

/// Returns the documents of the lists in `found`, which may have missing ones (-1), with these grades.
Lists graded(const Lists& run, const std::vector<int64_t>& found, std::vector<int64_t> sizes, std::vector<float> grades,
             const std::vector<std::string>& queries) {
  if (are_all(found, run)) return run.graded(std::move(grades));
  Names documents;
  documents.reserve(grades.size(), 0);
  for (const int64_t list : found) {
    if (list < 0) continue;
    documents.append(run.documents(), static_cast<size_t>(run.offsets()[list]), static_cast<size_t>(run.sizes()[list]));
  }
  return {std::move(sizes), std::move(grades), queries, std::move(documents)};
}

}  // namespace

JudgedRun judge(const Lists& run, const Lists& qrels, const std::vector<std::string>& queries) {
  check_documents("run", run);
  check_documents("qrels", qrels);
  std::vector<uint64_t> slots_of_run, slots_of_qrels;
  const IdTable ids_of_run = table_of_ids("run", run, slots_of_run),
                ids_of_qrels = table_of_ids("qrels", qrels, slots_of_qrels);
  std::vector<JudgedQuery> each;
  std::vector<int64_t> judged, sizes, found;
  int64_t rows = 0, judgments = 0;
  for (const std::string& query : queries) {
    const int64_t in_qrels = ids_of_qrels.find(query), in_run = ids_of_run.find(query);
    if (in_qrels < 0) throw ArgumentError("queries", mr::quoted(query) + " is not in the qrels");
    each.push_back({in_run, in_qrels, rows});
    found.push_back(in_run);
    judged.push_back(in_qrels);
    sizes.push_back(in_run < 0 ? 0 : run.sizes()[in_run]);
    rows += sizes.back();
    judgments += qrels.sizes()[in_qrels];
  }
  std::vector<float> grades(static_cast<size_t>(rows));
  const auto count = static_cast<int64_t>(each.size());
  std::vector<int64_t> retrieved(each.size());
  const bool is_checked = documents_differ(run);
  cpu::parallel_each(count, lists_per_task(count, rows + judgments),
                     [&](int64_t i) { retrieved[i] = join(run, qrels, each[i], is_checked, grades.data()); });
  Lists lists = graded(run, found, std::move(sizes), std::move(grades), queries);
  return {std::move(lists), std::move(found), are_all(judged, qrels) ? qrels : qrels.select(judged),
          std::accumulate(retrieved.begin(), retrieved.end(), int64_t{0})};
}

std::vector<int64_t> places_of_judged(const Lists& run, const Lists& judgments) {
  check_documents("run", run);
  check_documents("judgments", judgments);
  if (run.count() != judgments.count()) {
    throw ArgumentError("judgments", "has " + std::to_string(judgments.count()) + " lists, expected one for each of " +
                                         std::to_string(run.count()) + " lists of the run");
  }
  std::vector<int64_t> places(static_cast<size_t>(judgments.rows()));
  const int64_t count = judgments.count();
  cpu::parallel_each(count, lists_per_task(count, run.rows() + judgments.rows()), [&](int64_t list) {
    with_table(documents_of(run, list), [&](const NameTable<NameSpan>& found) {
      each_found(documents_of(judgments, list), found, [&](int64_t judgment, int64_t row) {
        places[judgments.offsets()[list] + judgment] = run.offsets()[list] + row + 1;
      });
    });
  });
  return places;
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
  std::vector<uint64_t> slots;
  table_of_ids("run", run, slots);
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
      check_once("run", run, list, first_repeated(documents_of(run, list)));
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
  return {with_different_documents(
              {std::move(rows.sizes), std::move(grades), std::move(rows.ids), std::move(rows.documents)}),
          adopted(std::move(rows.values))};
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
  int64_t retrieved;
  static constexpr auto fields =
      lua::fields("lists", &JudgedTensors::lists, "scores", &JudgedTensors::scores, "judgments",
                  &JudgedTensors::judgments, "retrieved", &JudgedTensors::retrieved);
};

JudgedTensors judge_of(const Lists& run, const Tensor& scores, const Lists& qrels,
                       const std::vector<std::string>& queries) {
  check::per_row("scores", scores, run);
  JudgedRun judged = judge(run, qrels, queries);
  Tensor chosen = scores.dtype() == Dtype::float32 ? scores : scores.to(Dtype::float64);
  if (!are_all(judged.found, run)) {
    std::erase(judged.found, -1);
    chosen = run.take_rows(chosen, judged.found);
  }
  return {std::move(judged.lists), chosen, std::move(judged.judgments), judged.retrieved};
}

/// Returns the ids of judged queries that all runs have, in the order of the judgments.
std::vector<std::string> shared_ids(const std::vector<Lists>& runs, const Lists& judgments) {
  std::vector<std::string> ids = judgments.ids();
  std::vector<uint64_t> slots;
  for (const Lists& run : runs) {
    const IdTable table(run.ids(), slots);
    std::erase_if(ids, [&](const std::string& id) { return table.find(id) < 0; });
  }
  return ids;
}

/// Returns, for each judged document, its row in the run, and 1 if it is retrieved. A document that is not retrieved
/// has row 1, which is a valid index, and 0.
std::tuple<Tensor, Tensor> places_of_judged_of(const Lists& run, const Lists& judgments) {
  std::vector<int64_t> places = places_of_judged(run, judgments);
  std::vector<double> retrieved;
  retrieved.reserve(places.size());
  for (int64_t& place : places) {
    retrieved.push_back(place > 0 ? 1 : 0);
    place = std::max<int64_t>(place, 1);
  }
  return {Tensor::from(places, default_device()), Tensor::from(retrieved, default_device())};
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
                      "The given queries of a run with grades, their scores, all judgments of these queries, and how "
                      "many judged documents are in the run."),
        op<&shared_ids>("shared_ids", "runs, judgments",
                        "Names of the judged queries that the lists of all runs have, in the order of the judgments."),
        op<&places_of_judged_of>("places_of_judged", "run, judgments",
                                 "The row of each judged document in the run (1 if it is not there), and 1 or 0: "
                                 "whether it is there. Both have the same queries."),
        op<&write_trec_run>("write_trec_run", "path, run, scores, tag, escape",
                            "Writes a run file. An existing regular file is replaced."),
    }};

}  // namespace mr
