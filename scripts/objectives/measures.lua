-- The metrics of Tang et al. (2023), 3.3, under both definitions of nDCG, and their code's way to evaluate.
--
-- Their code adds 1 to each label before the gain 2^y - 1 is taken, so that an irrelevant document has gain 1 and
-- random orders are near 0.8. It leaves out queries without relevant documents, takes precision at k over min(k, n)
-- documents, and puts the last of equal scores first.
local mr = require "moonrank"

local M = {}

local cuts = { 2, 4, 6 }

---Handles of all metrics: nDCG of labels + 1, precision and average precision, and nDCG with the gain 2^y - 1.
---@param ties? string  as in mr.metrics.Options
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

---Names of all metrics, in the order of Table 1, then nDCG with the gain 2^y - 1.
M.names = {}
for i, each in ipairs(M.all()) do M.names[i] = each.name end

---@param name string
---@return string  as in a table's head
function M.title(name)
  return (name:gsub("^ndcg%+1", "nDCG+1"):gsub("^ndcg", "nDCG"):gsub("^precision", "P"):gsub("^ap$", "MAP"))
end

-- A metric of scores for every query; NaN where no document is relevant.
local function judged(metric, scores, lists)
  local values = metric(scores, lists)
  return lists.relevant:to(values.dtype):gt(0):where(values, 0 / 0)
end

local function of_all(scores, lists, ties)
  local found = {}
  for _, metric in ipairs(M.all(ties)) do found[metric.name] = judged(metric, scores, lists) end
  return found
end

---Metrics of scores, by name and query; NaN where no document is relevant. Equal scores count as the mean over their
---orders.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@return table<string, mr.Tensor>  [lists]
function M.honest(scores, lists) return of_all(scores, lists) end

---Expected metrics of random orders: the mean over all orders, which equal scores have.
---@param lists mr.Lists
---@return table<string, mr.Tensor>
function M.random(lists) return M.honest(mr.zeros(lists.rows), lists) end

-- Numbers of all rows, those of each list in reversed order.
local function backwards(lists)
  local numbers, before = {}, 0
  for _, n in ipairs(lists.sizes:totable()) do
    for i = n, 1, -1 do numbers[#numbers + 1] = before + i end
    before = before + n
  end
  return mr.tensor(numbers, { dtype = "int64" })
end

-- The scores from which their code sorts, as it calls the ranks: those of the network, or of `approx_ndcg_ranker` the
-- number of documents with a higher score, which puts the lowest score first.
local function sorted_by(scores, ranker) return ranker == "inverted" and -scores or scores end

---Metrics as their code has them, by name and query. `ranker`: "scores", or "inverted", which puts the lowest score
---first.
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
  for _, k in ipairs(cuts) do  -- over as many documents as there are
    local name = "precision@" .. k
    found[name] = found[name] * k / lists.sizes:to(found[name].dtype):clamp{ max = k }
  end
  return found
end

-- Scores by which the rows of each list stay in their order.
local function first_on_top(lists) return -mr.arange(1, lists.rows, { dtype = "float64" }) end

---Metrics where a ranker gives one score for each query instead of one for each document: only the first document of a
---query is looked at, and nDCG@k sets its gain against the ideal of k documents, or for nDCG of one. So their code
---evaluated `mse_net_qbq_10k`.
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

---Means over the queries that count.
---@param values table<string, mr.Tensor>
---@return table<string, number>
function M.means(values)
  local found = {}
  for name, x in pairs(values) do found[name] = mr.stats.mean(x) end
  return found
end

return M
