-- Metrics of TREC runs. A run is the ranked list of documents that a system returned for each query. As in trec_eval, a
-- relevant document that is not in the run counts as not found: recall, for example, is divided by the number of all
-- relevant documents.
local core = require "moonrank.core"
local check = require "moonrank.check"
local evaluate = require "moonrank.evaluate"
local list_stats = require "moonrank.bounds.list_stats"
local metric = require "moonrank.metrics.registry"
local per_list = require "moonrank.evaluate.per_list"
local seen = require "moonrank.data.seen"

local M = {}

-- Maps metric names of trec_eval, as Lua patterns, to Moonrank's names of the same metrics.
local names_of_trec_eval = {
  ["^P_(%d+)$"] = "precision@%1", ["^recall_(%d+)$"] = "recall@%1", ["^ndcg_cut_(%d+)$"] = "ndcg@%1",
  ["^map_cut_(%d+)$"] = "ap@%1", ["^success_(%d+)$"] = "hit@%1", ["^recip_rank$"] = "rr", ["^Rprec$"] = "r_precision",
}

---Returns Moonrank's name of a metric for its name in trec_eval. Returns any other value unchanged.
---Example: `require("moonrank.data.retrieved").own_name "ndcg_cut_10"   --> ndcg@10`
function M.own_name(name)
  for pattern, form in pairs(names_of_trec_eval) do
    local found, count = tostring(name):gsub(pattern, form)
    if count > 0 then return found end
  end
  return name
end

-- Options of metrics that make them equal to trec_eval's: how ties are ranked, the value of a list without relevant
-- rows, the gain of a grade, and the smallest relevant grade.
local trec_eval = { ties = "trec", empty = "zero", gain = "linear", relevant = 1 }

---Returns a metric by its name in Moonrank or in trec_eval, with trec_eval's conventions (gain, ties, empty, relevant).
---Conventions in `given` replace those of trec_eval. A metric object is returned unchanged. `{"ap", bound = "minmax"}`
---gives AP rescaled by a bound.
---@param name string|mr.Metric|table
---@param given? table
---Example: `require("moonrank.data.retrieved").metric("ndcg_cut_10").k   --> 10`
---Example: `require("moonrank.data.retrieved").metric("ndcg", {gain = "exp2"}).ties   --> trec`
function M.metric(name, given)
  if metric.is(name) or evaluate.is_bounded(name) then return name end
  local bounded = evaluate.under_bound("evaluate", name, function(inner) return M.metric(inner, given) end)
  if bounded then return bounded end
  local text, options = M.own_name(name), {}
  for option, value in pairs(trec_eval) do options[option] = given and given[option] or value end
  options = metric.taken(text, options)
  options.name = text ~= name and name or nil
  return metric.parse(text, options)
end

local smallest_grade <const> = 2 ^ -149  -- above 0

-- Returns the number of relevant rows of each list; for metrics of gains, of rows with a grade above 0.
local function relevant_in(lists, m) return core.rows_at_least(lists, m.sums_gains and smallest_grade or m.relevant) end

local function within(count, k) return k and count:clamp{ max = k } or count end

-- Returns the ranking of the run's documents that the metric `m` reads. Values of metrics are in float64.
local function ranking_of(m, r)
  local key = m:ranking_key()
  r.rankings[key] = r.rankings[key] or m:ranking(r.scores, r.lists):double()
  return r.rankings[key]
end

-- Computes the metric `m` from the documents in the run only, as if judged documents that the run lacks did not exist.
local function plain(m, r) return m:of_ranking(ranking_of(m, r), r.lists, "zero") end

-- Makes a metric named `base` with the options `ties` and `relevant` of the metric `m`. A list without relevant rows
-- has the value 0.
local function like(m, base, options)
  options.ties, options.relevant, options.empty = m.ties, m.relevant, "zero"
  return metric.parse(base, options)
end

-- Turns a metric that is divided by `retrieved` (the number of relevant documents in the run) into one that is divided
-- by `all` (the number of all relevant documents); 0 if `all` is 0.
local function rescaled(values, retrieved, all) return all:gt(0):where(values * retrieved / all:clamp{ min = 1 }, 0) end

-- Functions by the name of the metric that they compute. These metrics depend on relevant documents that the run lacks.
-- The arguments `found` and `all` are the number of relevant documents in the run and the number of all relevant
-- documents.
local forms = {}

function forms.ap(m, r, found, all)
  local k = m.denominator == "cutoff" and m.k or nil
  return rescaled(plain(m, r), within(found, k), within(all, k))
end

function forms.recall(m, r, found, all) return rescaled(plain(m, r), found, all) end

function forms.f1(m, r, _, all) return plain(like(m, "precision", { k = m.k }), r) * (2 * m.k) / (all + m.k) end

function forms.nrbp(m, r, _, all)
  local most = 1 - (all * core.number_log(m.parameter)):exp()
  return all:gt(0):where(plain(like(m, "rbp", { k = m.k, p = m.parameter }), r) / all:gt(0):where(most, 1), 0)
end

function forms.ndcg(m, r)
  local dcg = like(m, "dcg", { k = m.k, gain = m.gain })
  local ideal = dcg:best_values(r.judgments)
  return ideal:gt(0):where(plain(dcg, r) / ideal:gt(0):where(ideal, 1), 0)
end

function forms.err(m, r)
  local top = m.top or r.judgments.rows > 0 and math.max(1, r.judgments.relevance:max():item()) or 1
  return plain(m:with("top", top), r)
end

function forms.r_precision(m, r, _, all)
  local relevant = r.lists:to("float64").relevance:ge(m.relevant)
  local ranks = core.ranks(ranking_of(m, r))
  return rescaled(r.lists:sum(relevant * ranks:le(r.lists:spread(all))), 1, all)
end

-- Computes bpref. All judged documents are ranked: first the documents in the run, in the run's order, then the missing
-- documents, with relevant ones last. So every missing relevant document has all nonrelevant documents above it.
function forms.bpref(m, r, found, all)
  local judged = r.judgments
  local relevant = judged:to("float64").relevance:ge(m.relevant)
  local order = -relevant - (r.lists.rows + 1)
  if r.lists.rows > 0 then
    local places, is_retrieved = core.places_of_judged(r.lists, r.judgments)
    order = is_retrieved:where(-core.ranks(ranking_of(m, r)):rows(places), order)
  end
  local values = m:with("ties", "stable"):of_ranking(core.ranking(order, judged, "stable", m.relevant), judged, "zero")
  return judged:sum(1 - relevant):gt(0):where(values, found / all:clamp{ min = 1 })
end

-- Returns, for each query, a list of all documents in the run or judged, from which bounds are computed.
local function all_documents(r)
  local sizes, grades, row, judgment = {}, {}, 0, 0
  local found, judged = r.lists.relevance:totable(), r.judgments.relevance:totable()
  local _, is_retrieved = core.places_of_judged(r.lists, r.judgments)
  local retrieved = is_retrieved:totable()
  local rows, judgments = core.integers(r.lists.sizes), core.integers(r.judgments.sizes)
  for l = 1, r.lists.count do
    local before = #grades
    table.move(found, row + 1, row + rows[l], before + 1, grades)
    for i = judgment + 1, judgment + judgments[l] do
      if retrieved[i] == 0 then grades[#grades + 1] = judged[i] end
    end
    sizes[l], row, judgment = #grades - before, row + rows[l], judgment + judgments[l]
  end
  return core.lists(sizes, core.tensor(grades, "float64", "cpu"), {}, {})
end

local values_of

-- Rescales a metric by an affine bound. The value is NaN if the metric is equal for all orders of a query's documents.
local function bounded_values(m, r)
  local values = values_of(m.metric:with("empty", "zero"), r)
  r.all = r.all or all_documents(r)
  local slope, offset = list_stats.affine(m.metric, r.all, m.line, values.dtype, values.device)
  return list_stats.weights(m.metric, r.all, values.dtype, values.device):gt(0):where(values * slope + offset, 0 / 0)
end

-- Computes a metric of each query. For a query without relevant documents, a metric without a bound has the value that
-- its option `empty` asks for.
function values_of(m, r)
  if evaluate.is_bounded(m) then return bounded_values(m, r) end
  local found, all = relevant_in(r.lists, m), relevant_in(r.judgments, m)
  local form = m.script == 0 and forms[m.base]
  if not form and not m.ignores_missing and (all - found):max():item() > 0 then
    check.fail("metric '%s' needs all relevant documents, and the run lacks some that are judged relevant. Use another "
      .. "metric", m.name)
  end
  return all:gt(0):where((form or plain)(m, r, found, all), m.empty_value)
end

---Returns a table of three numbers of queries: `both` in the run and in the judgments, `unknown`
---only in the run, `missing` only in the judgments. If `both` would be 0, raises an error.
---@param called? string  name of the run, for error messages (default: what it was read from)
---@return { both: integer, unknown: integer, missing: integer }
function M.coverage(where, run, judgments, called)
  local both = #core.shared_ids({ run.lists }, judgments)
  if both == 0 then
    check.fail("%s: none of the %d queries of %s is among the %d of qrels. The first query of the run is '%s', that of "
      .. "qrels is '%s'. Pass qrels with the same query names", where, run.count, called or run.name, judgments.count,
      core.safe_text(run.lists.ids[1] or ""), core.safe_text(judgments.ids[1] or ""))
  end
  return { both = both, unknown = run.count - both, missing = judgments.count - both }
end

---Returns how many queries are only in the run or only in the judgments, and whether they count 0 or are left out, in
---words; nil if there are none. Queries without judgments never count.
---@param coverage { unknown: integer, missing: integer }  numbers of queries only in the run, only in the judgments
---@param judged integer  how many queries are judged
---@param missing "skip"|"zero"
function M.shortfall(coverage, judged, missing)
  local parts = {}
  if coverage.missing > 0 then
    parts[1] = ("lacks %d of the %d judged queries, which %s"):format(coverage.missing, judged,
      missing == "zero" and "count 0" or "are left out")
  end
  if coverage.unknown > 0 then
    parts[#parts + 1] = ("has %d queries that are not judged, which do not count"):format(coverage.unknown)
  end
  return #parts > 0 and table.concat(parts, "; ") or nil
end

---Returns the judged queries on which runs are compared, in the order of the judgments: those that all runs have, or
---with missing = "zero" all of them.
---@param runs mr.ScoredLists[]
---@param judgments mr.Lists  with names of queries
---@param missing "skip"|"zero"
---@return string[]
function M.queries(runs, judgments, missing)
  if missing == "zero" then return judgments.ids end
  local lists = {}
  for i, run in ipairs(runs) do lists[i] = run.lists end
  return core.shared_ids(lists, judgments)
end

-- Raises an error if none of the run's documents is judged, e.g. because names are spelt differently.
local function check_documents(where, called, r)
  if r.lists.rows == 0 or r.judgments.rows == 0 or r.retrieved > 0 then return end
  check.fail("%s: none of the %d documents of %s is judged in the %d queries. The first document of the run is '%s', "
    .. "that of qrels is '%s'. Pass qrels with the same document names", where, r.lists.rows, called, r.lists.count,
    core.safe_text(r.lists.documents[1]), core.safe_text(r.judgments.documents[1]))
end

-- Frees rankings and judgments of an evaluation when it ends. Lua collects them late, because it does not know that
-- they are large, and the next evaluation would need new memory.
local freed = {}
function freed.__close(r)
  for _, ranking in pairs(r.rankings) do local _ <close> = ranking end
  local _ <close> = r.judgments
end

---Evaluates a run on the queries in `queries` by metrics. It is an error if none of the run's documents is judged.
---@param where string   function name for error messages
---@param called string  name of the run, for error messages
---@param run mr.ScoredLists
---@param judgments mr.Lists  with names of queries and documents
---@param queries string[]    names of judged queries, in the order of the result
---@param metrics (string|mr.Metric)[]
---@param given? table        conventions (gain, ties, empty, relevant) that replace those of trec_eval
---@return mr.Evaluation
---@return integer found  number of rows of the run with at least the grade `given.relevant` (default 1)
function M.evaluate(where, called, run, judgments, queries, metrics, given)
  evaluate.check_metrics("run:evaluate", metrics)
  seen.note("other", judgments)
  local r <close> = setmetatable(core.judge(run.lists, run.scores, judgments, queries), freed)
  r.rankings, r.scores = {}, r.scores:to(core.device())
  check_documents(where, called, r)
  local handles = {}
  for i, each in ipairs(metrics) do handles[i] = M.metric(each, given) end
  metric.check_read(where, given or {}, handles)
  local result = evaluate.of_values(r.lists.count, handles, function(m) return values_of(m, r) end)
  result.ids, result._shapes = queries, per_list.shapes_of(r.judgments)
  return result, core.rows_at_least(r.lists, given and given.relevant or 1):sum():item()
end

return M
