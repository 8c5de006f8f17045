-- The metrics of Tang et al. (2023), section 3.3, with two definitions of nDCG, and the way in which the authors' code
-- evaluates.
--
-- The authors' code adds 1 to each label before the gain 2^y - 1 is taken. An irrelevant document then has gain 1, and
-- random orders have an nDCG near 0.8. The code leaves out queries without relevant documents, divides precision at k
-- by min(k, n) for n documents, and ranks the last of several equal scores first.
local mr = require "moonrank"

local M = {}

local cuts = { 2, 4, 6 }

---Makes all metrics: nDCG of labels + 1 (names "ndcg+1"), precision, average precision, and nDCG with the gain 2^y - 1
---of a label y; nDCG and precision also at the cutoffs 2, 4 and 6.
---@param ties? string  treatment of equal scores, as in mr.metrics.Options
---@return mr.Metric[]
function M.all(ties)
  local found = {}
  local function ndcg(gain, k, name)
    found[#found + 1] = mr.metrics.ndcg{ gain = gain, k = k, name = name .. (k and "@" .. k or ""), ties = ties }
  end
  ndcg("exp2_plus_one", nil, "ndcg+1")
  for _, k in ipairs(cuts) do ndcg("exp2_plus_one", k, "ndcg+1") end
  for _, k in ipairs(cuts) do found[#found + 1] = mr.metrics.precision{ k = k, ties = ties } end
  found[#found + 1] = mr.metrics.ap{ ties = ties }
  ndcg("exp2", nil, "ndcg")
  for _, k in ipairs(cuts) do ndcg("exp2", k, "ndcg") end
  return found
end

---Names of all metrics: first those of Table 1 of the paper in its order, then nDCG with the gain 2^y - 1 of a label y.
M.names = {}
for i, each in ipairs(M.all()) do M.names[i] = each.name end

---The name of a metric in the head of a table, e.g. "P@2" for "precision@2".
---@param name string
---@return string
function M.title(name)
  return (name:gsub("^ndcg%+1", "nDCG+1"):gsub("^ndcg", "nDCG"):gsub("^precision", "P"):gsub("^ap$", "MAP"))
end

-- The values of a metric for the given scores, one per query; NaN for a query without relevant documents.
local function judged(metric, scores, lists)
  local values = metric(scores, lists)
  return lists.relevant:to(values.dtype):gt(0):where(values, 0 / 0)
end

local function of_all(scores, lists, ties)
  local found = {}
  for _, metric in ipairs(M.all(ties)) do found[metric.name] = judged(metric, scores, lists) end
  return found
end

---All metrics of scores, by name of the metric and then by query. They are NaN for a query without relevant documents.
---Documents with equal scores get the mean over their orders, which the authors' code does not do.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@return table<string, mr.Tensor>  [lists]
function M.honest(scores, lists) return of_all(scores, lists) end

---The expected metrics of random orders, by name of the metric and then by query; NaN for a query without relevant
---documents. They are computed as the metrics of scores that are all equal.
---@param lists mr.Lists
---@return table<string, mr.Tensor>
function M.random(lists) return M.honest(mr.zeros(lists.rows), lists) end

-- The numbers of all rows, with the rows of each list in reversed order. A ranking that keeps the order of equal scores
-- then puts the last of these rows first.
local function backwards(lists)
  local numbers, before = {}, 0
  for _, n in ipairs(lists.sizes:totable()) do
    for i = n, 1, -1 do numbers[#numbers + 1] = before + i end
    before = before + n
  end
  return mr.tensor(numbers, { dtype = "int64" })
end

-- The scores by which the authors' code sorts documents, highest first. Its ranker `approx_ndcg_ranker` (here
-- "inverted") puts the lowest score first.
local function sorted_by(scores, ranker) return ranker == "inverted" and -scores or scores end

---Metrics as the authors' code computes them, by name of the metric and then by query: without queries without relevant
---documents (NaN), with precision@k divided by min(k, n) for n documents, and with the last of several equal scores
---first. The `ranker` "scores" ranks the highest score first, "inverted" the lowest.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param ranker "scores"|"inverted"
---@return table<string, mr.Tensor>
function M.code(scores, lists, ranker)
  local order = backwards(lists)
  local grades = lists.relevance:reshape(lists.rows, 1):rows(order):reshape(lists.rows)
  local from_last = mr.lists{ relevance = grades, sizes = lists.sizes:totable() }
  local values = sorted_by(scores, ranker):reshape(lists.rows, 1):rows(order):reshape(lists.rows)
  local found = of_all(values, from_last, "stable")
  -- As the authors' code does, divides precision@k by the number of documents if a query has fewer than k.
  for _, k in ipairs(cuts) do
    local name = "precision@" .. k
    found[name] = found[name] * k / lists.sizes:to(found[name].dtype):clamp{ max = k }
  end
  return found
end

-- Scores that decrease from row to row, so that the rows of each list are ranked in their given order.
local function first_on_top(lists) return -mr.arange(1, lists.rows, { dtype = "float64" }) end

---Metrics as the authors' code computed them for its result file `mse_net_qbq_10k`, whose ranker gives one score per
---query, so that only the first document of a query counts. Returns them by name of the metric and then by query.
---nDCG@k divides the document's gain by the ideal DCG of k documents; nDCG without k divides it by that of one
---document.
---@param lists mr.Lists
---@return table<string, mr.Tensor>
function M.first_document(lists)
  local found, first, ideal = {}, first_on_top(lists), lists.relevance:double()
  for _, name in ipairs(M.names) do
    local k, gain = tonumber(name:match "@(%d+)$" or 1), name:find "%+1" and "exp2_plus_one" or "exp2"
    if name:find "^ndcg" then
      local function dcg(scores, depth) return judged(mr.metrics.dcg{ gain = gain, k = depth }, scores, lists) end
      found[name] = dcg(first, 1) / dcg(ideal, math.tointeger(k))
    else
      found[name] = judged(mr.metrics.precision{ k = 1 }, first, lists)
    end
  end
  return found
end

---The mean of each metric over queries, by name of the metric. Queries whose value is NaN are left out.
---@param values table<string, mr.Tensor>
---@return table<string, number>
function M.means(values)
  local found = {}
  for name, x in pairs(values) do found[name] = mr.stats.mean(x) end
  return found
end

return M
