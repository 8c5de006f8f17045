-- The metrics of Tang et al. (2023), 3.3, under both definitions of nDCG, and their code's way to evaluate.
--
-- Their code adds 1 to each label before the gain 2^y - 1 is taken, so that an irrelevant document has gain 1 and random orders are near 0.8.
-- It leaves out queries without relevant documents, takes precision at k over min(k, n) documents, and puts the last of equal scores first.
local mr = require "moonrank"

local M = {}

local cuts = { 2, 4, 6 }

local function ndcg(gain, k, name) return mr.metrics.ndcg{ gain = gain, k = k, name = name .. (k and "@" .. k or "") } end

---Handles of all metrics: nDCG of labels + 1, precision and average precision, and nDCG with the gain 2^y - 1.
---@return mr.Metric[]
function M.all()
  local found = { ndcg("exp2_plus_one", nil, "ndcg+1") }
  for _, k in ipairs(cuts) do found[#found + 1] = ndcg("exp2_plus_one", k, "ndcg+1") end
  for _, k in ipairs(cuts) do found[#found + 1] = mr.metrics.precision{ k = k } end
  found[#found + 1] = mr.metrics.ap{}
  found[#found + 1] = ndcg("exp2", nil, "ndcg")
  for _, k in ipairs(cuts) do found[#found + 1] = ndcg("exp2", k, "ndcg") end
  return found
end

---Their names, in the order of Table 1, then those of nDCG with the gain 2^y - 1.
M.names = {}
for i, each in ipairs(M.all()) do M.names[i] = each.name end

---@param name string
---@return string  as in a table's head
function M.title(name)
  return (name:gsub("^ndcg%+1", "nDCG+1"):gsub("^ndcg", "nDCG"):gsub("^precision", "P"):gsub("^ap$", "MAP"))
end

---Metrics of scores, by name and query; NaN where no document is relevant. Of equal scores the mean over their orders counts.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@return table<string, mr.Tensor>  [lists]
function M.honest(scores, lists)
  local evaluation, found = mr.evaluate(scores, lists, M.all()), {}
  for _, name in ipairs(M.names) do found[name] = evaluation[name] end
  return found
end

---What orders at random reach on average: the mean over all orders, which equal scores have.
---@param lists mr.Lists
---@return table<string, mr.Tensor>
function M.random(lists) return M.honest(mr.zeros(lists.rows), lists) end

-- Numbers of the rows with those of each list from the last to the first.
local function backwards(lists)
  local numbers, before = {}, 0
  for _, n in ipairs(lists.sizes:totable()) do
    for i = n, 1, -1 do numbers[#numbers + 1] = before + i end
    before = before + n
  end
  return mr.tensor(numbers, { dtype = "int64" })
end

-- The scores from which their code sorts, as it calls the ranks: those of the network, or of `approx_ndcg_ranker` the number of documents with
-- a higher score, which puts the lowest score first.
local function sorted_by(scores, ranker) return ranker == "inverted" and -scores or scores end

---Metrics as their code has them, by name and query. `ranker`: "scores", or "inverted", which puts the lowest score first.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param ranker "scores"|"inverted"
---@return table<string, mr.Tensor>
function M.code(scores, lists, ranker)
  local order = backwards(lists)
  local grades = lists.relevance:reshape(lists.rows, 1):rows(order):reshape(lists.rows)
  local from_last = mr.lists{ relevance = grades, sizes = lists.sizes:totable() }
  local values = sorted_by(scores, ranker):reshape(lists.rows, 1):rows(order):reshape(lists.rows)
  local evaluation, found = mr.evaluate(values, from_last, M.all(), { ties = "stable" }), {}
  for _, name in ipairs(M.names) do found[name] = evaluation[name] end
  for _, k in ipairs(cuts) do  -- over as many documents as there are
    local name = "precision@" .. k
    found[name] = found[name] * k / lists.sizes:double():clamp(1, k):to(found[name].dtype)
  end
  return found
end

-- Discounted cumulative gain at k, of the order of the rows or of the ideal one.
local function dcg(lists, gain, k, ideal)
  local scores = ideal and lists.relevance or mr.arange(lists.rows, 1, -1):to(lists.relevance.dtype)
  return mr.metrics.dcg(scores, lists, { gain = gain, k = k, ties = "stable" })
end

---Metrics where a ranker gives one score for each query instead of one for each document: only the first document of a query is looked at, and
---nDCG@k sets its gain against the ideal of k documents, or for nDCG of one. So their code evaluated `mse_net_qbq_10k`.
---@param lists mr.Lists
---@return table<string, mr.Tensor>
function M.first_document(lists)
  local found = {}
  local relevant = mr.metrics.precision(mr.arange(lists.rows, 1, -1):float(), lists, { k = 1 })
  for _, name in ipairs(M.names) do
    local k = math.tointeger(tonumber(name:match "@(%d+)$" or 1))
    local gain = name:find "%+1" and "exp2_plus_one" or "exp2"
    found[name] = name:find "^ndcg" and dcg(lists, gain, 1) / dcg(lists, gain, k, true) or relevant
  end
  return found
end

---Means over the queries that count.
---@param values table<string, mr.Tensor>
---@return table<string, number>
function M.means(values)
  local found = {}
  for name, x in pairs(values) do found[name] = mr.stats.mean(x) end
  return found
end

return M
