-- Defines scored lists (mr.ScoredLists): lists of named documents for named queries, with a score for each document.
-- They come from run files, tables or models.
local core = require "moonrank.core"
local check = require "moonrank.check"
local dataset = require "moonrank.data.dataset"
local arguments = require("moonrank.options").arguments
local declare = require("moonrank.options").declare
local find = require "moonrank.data.find"
local registry = require "moonrank.metrics.registry"

local M = {}

---Named documents of named queries, with a score for each document: a run.
---@class mr.ScoredLists
---@field name string       path of the file, or the name that the script gave
---@field lists mr.Lists    with names of queries and documents; with grades only if made from a dataset or lists
---@field scores mr.Tensor  [rows]; float32 if read from a file, like in trec_eval
---@field count integer     number of queries
local Scored = check.class("mr.ScoredLists")

---Makes an mr.ScoredLists from lists that have names of queries and documents, and a score for each row.
---@param scores mr.Tensor  [rows]
---@param name string       path of the file, or the name that the script gave
function M.new(lists, scores, name)
  return setmetatable({ lists = lists, scores = scores, count = lists.count, name = name }, Scored)
end

---Returns true if `x` is an mr.ScoredLists, such as mr.data.scores returns.
function M.is(x) return getmetatable(x) == Scored end

---Returns lists with names of queries and documents. Lists that have no names get those of the dataset's users and
---items, or else the numbers of users and items as texts. Without users, a query is named by the number of its list;
---without items, a document by the number of its row within the list.
---@param set mr.Dataset|mr.Lists
---@return mr.Lists
---Example: `require("moonrank.data.scored").named(mr.lists{{0, 1}, {1}}).documents[2]   --> 2`
function M.named(set)
  local lists = dataset.is(set) and set.lists or set
  local ids, documents = lists.ids, lists.documents
  if #ids == lists.count and #documents == lists.rows then return lists end
  local function texts(numbers, called)
    for i, number in ipairs(numbers) do numbers[i] = called and called[number] or ("%d"):format(number) end
    return numbers
  end
  local is_dataset = dataset.is(set)
  local users, items, called = is_dataset and set.users, is_dataset and set.items, is_dataset and set.ids or {}
  local sizes = core.integers(lists.sizes)
  if #ids < lists.count then
    ids = texts(core.integers(users or core.arange(1, #sizes, 1, "int64", "cpu")), users and called.users)
  end
  if #documents < lists.rows then
    local numbers = items and core.integers(items)
    if not numbers then
      numbers = {}
      for _, size in ipairs(sizes) do
        for i = 1, size do numbers[#numbers + 1] = i end
      end
    end
    documents = texts(numbers, items and called.items)
  end
  return core.lists(sizes, lists.relevance, ids, documents)
end

---Raises an error if lists have weights, which evaluations of runs and of candidates do not use.
function M.check_unweighted(where, lists)
  if not lists:has_weights() then return end
  check.fail("%s: the lists have weights, which this evaluation does not use; only mr.evaluate with a tensor of scores "
    .. "uses them. Pass lists:weighted{weights = false, list_weights = false}", where)
end

---Returns the grades of the documents of each query, as lists with names: from a TREC qrels file, or from lists or a
---dataset, which get names from M.named. Lists with weights are an error.
---@param where string  function name for error messages
---@param qrels string|mr.Lists|mr.Dataset  a text is the path of a file
---@return mr.Lists
function M.judgments(where, qrels)
  if type(qrels) == "string" then return core.read_trec_qrels(find.path(qrels)) end
  if dataset.is(qrels) or check.is_lists(qrels) then
    M.check_unweighted(where, dataset.is(qrels) and qrels.lists or qrels)
    return M.named(qrels)
  end
  check.expect(false, where, "qrels", qrels, "the path of a file, lists or a dataset")
end

local trec_run_options = declare("mr.data.TrecRunOptions", {
  { "tag", "string", default = "moonrank", help = "last field of each line: the name of the run" },
  { "escape", "boolean", default = false, help = "whether names with blanks are written in an escaped form" },
})

local check_path = arguments{ "path", "string" }

---Writes a TREC run file with lines "query Q0 document rank score tag". Documents are ordered by
---score, ties by descending id, like trec_eval. An existing file is replaced, and the folder of
---`path` is created if necessary. Scores that are not finite and empty names are errors. Names with
---blanks, which separate the fields of a run file, and names that begin with "%%" are errors, too.
---`escape = true` writes such names in an escaped form ("%%New%20York"). mr.data.trec_run and
---mr.data.trec_qrels read the original names back; other programs see the escaped form.
---@param path string
---@param options? mr.data.TrecRunOptions
---Example:
---```lua
---local path = os.tmpname()
---mr.data.scored(mr.tensor{0.5, 2}, mr.lists{{0, 1}}):to_trec_run(path, {tag = "mine"})
---io.lines(path)()   --> 1 Q0 2 1 2 mine
---```
function Scored:to_trec_run(path, options)
  local o = trec_run_options:read("scored:to_trec_run", options)
  check_path("scored:to_trec_run", path)
  core.make_folder(path)
  core.write_trec_run(path, self.lists, self.scores, o.tag, o.escape)
end

local conventions = declare("mr.data.Conventions", {
  registry.convention("gain", '"linear", as in trec_eval'), registry.convention("ties", '"trec"'),
  registry.convention("empty", '"zero"'), registry.convention("relevant", "1"),
})

local evaluate_options = declare("mr.data.ScoredEvaluateOptions", {
  { "missing", "string", default = "skip", choices = { "skip", "zero" },
    help = "judged queries that the run lacks are left out (skip) or count 0 (zero)" },
}, conventions)

---Evaluates the scores against judgments, by default under the conventions of trec_eval. With equal
---scores, the document with the larger id then ranks first; queries without relevant documents have
---the value 0; the gain of nDCG is the grade. The options `ties`, `empty` and `gain` change this.
---Unjudged documents are not relevant. Relevant documents that are not in the run count as never
---found. Metrics that need the rank of every relevant document, such as "auc", raise an error if the
---run lacks one.
---
---Metrics have their usual names, or the names of trec_eval (P_10, recip_rank, Rprec, ndcg_cut_10,
---recall_100, map_cut_10, success_5). Metric objects such as mr.metrics.ap{...} are used with their
---own conventions instead. Means are over the queries that are both in the run and judged. With
---`missing = "zero"`, means are over all judged queries, and a query that is not in the run has the
---value 0 (trec_eval -c).
---
---`{"ap", bound = "minmax"}` is AP rescaled by an affine bound. The bounds of a query are computed
---from the grades of all documents of the query that are in the run or judged. With "minmax", the
---value of a query can be negative, because a relevant document that the run lacks counts less than
---a document at the last rank.
---
---A line below the printed table says how many judged queries the run lacks, and how many queries
---of the run are not judged. A run without any judged query, or without any judged document, is an
---error.
---@param qrels string|mr.Lists|mr.Dataset  the path of a qrels file, named lists, or a dataset
---@param metrics (string|mr.Metric|table)[]
---@param options? mr.data.ScoredEvaluateOptions
---@return mr.Evaluation
---Example:
---```lua
---local judged = mr.lists{{1, 0, 2}}
---mr.data.scored(mr.tensor{3, 2, 1}, judged):evaluate(judged, {"map", "P_10"}).mean.P_10   --> 0.2
---```
function Scored:evaluate(qrels, metrics, options)
  local where = "mr.ScoredLists:evaluate"
  local o = evaluate_options:read(where, options)
  local judgments = M.judgments(where, qrels)
  local _ <close> = type(qrels) == "string" and judgments or nil  -- frees their memory at once
  local retrieved = require "moonrank.data.retrieved"
  local coverage = retrieved.coverage(where, self, judgments)
  local queries = retrieved.queries({ self }, judgments, o.missing)
  local result = retrieved.evaluate(where, self.name, self, judgments, queries, metrics, o)
  local shortfall = retrieved.shortfall(coverage, judgments.count, o.missing)
  result.coverage = shortfall and "the run " .. shortfall or false
  return result
end

function Scored:__tostring()
  return core.safe_text(("mr.ScoredLists %s: %d lists, %d rows"):format(self.name, self.count, #self.scores))
end

return M
