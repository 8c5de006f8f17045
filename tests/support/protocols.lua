-- Small made-up data for tests of experiment protocols, and a model whose parameters are the scores of a list's rows.
local mr = require "moonrank"
local core = require "moonrank.core"
local files = require "tests.support.files"

local M = {}

---Ratings from lines of a file.
---@param lines string[]  "user,item,rating"
---@return mr.Ratings
function M.ratings(lines)
  return mr.data.interactions(files.written("user,item,rating\n" .. table.concat(lines, "\n") .. "\n"))
end

---Ratings of users, of which the first `relevant` items have one value and the others up to `items` another.
---@param users { relevant: integer, value: number, other: number }[]
---@param items integer
---@return mr.Ratings
function M.liking(users, items)
  local lines = {}
  for u, user in ipairs(users) do
    for item = 1, items do
      lines[#lines + 1] = ("u%d,i%d,%g"):format(u, item, item <= user.relevant and user.value or user.other)
    end
  end
  return M.ratings(lines)
end

---Three users with 25, 24 and 50 items of one value among so many, which have another.
function M.three_users(value, other, items)
  local users = {}
  for u, relevant in ipairs{ 25, 24, 50 } do users[u] = { relevant = relevant, value = value, other = other } end
  return M.liking(users, items)
end

---Sorts values in place, and returns them.
function M.sorted(values)
  table.sort(values)
  return values
end

---Returns how often each text occurs that `text_of` gives of a call.
function M.counted(calls, text_of)
  local found = {}
  for _, call in ipairs(calls) do found[text_of(call)] = (found[text_of(call)] or 0) + 1 end
  return found
end

---Losses and bounds of the thesis, with two bounds of ours.
M.losses = { "ndcg", "ap", "nrbp" }
M.bounds = { "none", "minmax", "expectation", "expectation_max", "distribution", "distribution_log",
  "distribution_logit" }

---Gives each pair of loss and bound of data sets a learning rate of its own in scripts/thesis/training.lua: 1.1 is that
---of nDCG without a bound, 3.7 of nRBP under the logit.
function M.number_rates(runs, sets)
  for _, data in ipairs(sets) do
    runs.rates[data] = {}
    for l, loss in ipairs(M.losses) do
      runs.rates[data][loss] = {}
      for b, bound in ipairs(M.bounds) do runs.rates[data][loss][bound] = l + b / 10 end
    end
  end
end

---Lists of the same grades, `count` of them, each of a user of its own where asked; features say a row's place in the
---list.
---@param grades integer[]
---@param count? integer
---@param users? integer  number of the first list's user
---@return mr.Dataset
function M.alike(grades, count, users)
  local lists, features = {}, {}
  for l = 1, count or 1 do
    lists[l] = grades
    for i = 1, #grades do
      local row = {}
      for c = 1, #grades do row[c] = c == i and 1.0 or 0.0 end
      features[#features + 1] = row
    end
  end
  return mr.data.dataset{ lists = mr.lists(lists), features = mr.tensor(features, { dtype = "float64" }),
    users = users and mr.arange(users, users + #lists - 1):long() or nil }
end

---A model for M.alike: its parameters are the scores of the places. `steps` has the number of lists of every step.
---@param start number[]
---@return table
function M.places(start)
  local w = mr.tensor(start, { dtype = "float64" }):requires_grad()
  local model = { steps = {} }
  function model:parameters() return { w } end  -- luacheck: ignore 212
  function model:snapshot() return core.snapshot(w) end  -- luacheck: ignore 212
  function model:restore(snapshot) core.restore(w, snapshot) end  -- luacheck: ignore 212
  function model:values() return w:detach():totable() end  -- luacheck: ignore 212
  return setmetatable(model, { __call = function(self, batch)
    local scores = batch.features:matmul(w:reshape(#start, 1)):reshape(batch.lists.rows)
    if scores.tracked then table.insert(self.steps, batch.lists.count) end
    return scores
  end })
end

---Parts of lists of one shape, the relevant row first unless said otherwise, and a model whose scores begin at `start`.
---@param o table  `grades` of train's lists, their number `lists`; `valid`, `test`: grades; `start`; `users`
---@return { train: mr.Dataset, valid: mr.Dataset, test: mr.Dataset } fold
---@return table model
function M.fold(o)
  local grades = o.grades or { 1, 0 }
  return { train = M.alike(grades, o.lists, o.users), valid = M.alike(o.valid or grades, 1, o.users),
    test = M.alike(o.test or grades, 1, o.users) }, M.places(o.start or { 0, 0 })
end

---Returns how many rows of each list are relevant, and how many are not.
---@param part mr.Dataset
---@return integer[] relevant
---@return integer[] others
function M.counts(part)
  local relevant, others = part.lists.relevant:totable(), {}
  for l, n in ipairs(part.lists.sizes:totable()) do others[l] = n - relevant[l] end
  return relevant, others
end

---Items of each list by user: those that are relevant, or those that are not.
---@param part mr.Dataset
---@param relevant boolean
---@return table<integer, table<integer, boolean>>
function M.items(part, relevant)
  local found, at = {}, 0
  local users, items, grades = part.users:totable(), part.items:totable(), part.lists.relevance:totable()
  for l, n in ipairs(part.lists.sizes:totable()) do
    local own = {}
    for i = at + 1, at + n do own[items[i]] = (grades[i] > 0) == relevant or nil end
    found[users[l]], at = own, at + n
  end
  return found
end

return M
