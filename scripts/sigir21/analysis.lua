-- Computations for Figures 1 to 5 of Li, Urbano & Hanjalic (2021): means over splits, how often each loss is best,
-- and differences of users' scores. Their input are rows from runs.lua: a row is the test score of one model by one
-- metric on one split. Statistical tests are in protocol.lua.
local M = {}

---Returns the distinct values of a field of rows, such as "loss", in order of first appearance.
---@param rows sigir21.Row[]
---@return any[]
function M.distinct(rows, field)
  local found, seen = {}, {}
  for _, row in ipairs(rows) do
    if not seen[row[field]] then found[#found + 1], seen[row[field]] = row[field], true end
  end
  return found
end

---Returns the rows that have these values in these fields, e.g. { loss = "ap", nsr = 1 }.
---@param rows sigir21.Row[]
---@param fields table<string, any>
---@return sigir21.Row[]
function M.where(rows, fields)
  local found = {}
  for _, row in ipairs(rows) do
    local same = true
    for name, value in pairs(fields) do same = same and row[name] == value end
    if same then found[#found + 1] = row end
  end
  return found
end

-- Returns a key that is equal for rows of the same data set, NSR, split and kind of losses (listwise or LambdaRank).
local function split_of(row) return ("%s\n%s\n%d\n%d"):format(row.kind, row.dataset, row.nsr, row.split) end

---Returns the rows of those splits in which every loss of a kind (listwise or LambdaRank) has a
---training run. In other splits losses cannot be compared; such splits occur while a store still lacks
---runs.
---@param rows sigir21.Row[]
---@return sigir21.Row[] rows
---@return integer splits  number of splits that are left out
function M.complete(rows)
  local expected, there, found, left = {}, {}, {}, 0
  for _, kind in ipairs(M.distinct(rows, "kind")) do
    expected[kind] = #M.distinct(M.where(rows, { kind = kind }), "loss")
  end
  for _, row in ipairs(rows) do
    local key = split_of(row)
    there[key] = there[key] or { kind = row.kind, count = 0 }
    if not there[key][row.loss] then there[key][row.loss], there[key].count = true, there[key].count + 1 end
  end
  for _, row in ipairs(rows) do
    if there[split_of(row)].count == expected[row.kind] then found[#found + 1] = row end
  end
  for _, each in pairs(there) do left = left + (each.count < expected[each.kind] and 1 or 0) end
  return found, left
end

---Returns the mean, smallest and largest score of rows, or three NaN if there are no rows.
---@return number mean
---@return number low
---@return number high
function M.spread(rows)
  if #rows == 0 then return 0 / 0, 0 / 0, 0 / 0 end
  local sum, low, high = 0.0, math.huge, -math.huge
  for _, row in ipairs(rows) do
    sum, low, high = sum + row.score, math.min(low, row.score), math.max(high, row.score)
  end
  return sum / #rows, low, high
end

---Counts in how many cases each loss has the best test score. A case is one split at one negative
---sampling ratio (NSR). If losses tie, each of them is counted.
---@param rows sigir21.Row[]  scores of one kind of losses, by one metric on one data set
---@return table<string, integer> counts  by loss
---@return integer cases  number of combinations of split and NSR
function M.best_counts(rows)
  local counts, cases = {}, 0
  for _, loss in ipairs(M.distinct(rows, "loss")) do counts[loss] = 0 end
  for _, nsr in ipairs(M.distinct(rows, "nsr")) do
    local of_nsr = M.where(rows, { nsr = nsr })
    for _, split in ipairs(M.distinct(of_nsr, "split")) do
      local case = M.where(of_nsr, { split = split })
      local _, _, best = M.spread(case)
      for _, row in ipairs(case) do
        if row.score == best then counts[row.loss] = counts[row.loss] + 1 end
      end
      cases = cases + 1
    end
  end
  return counts, cases
end

-- Returns, by user, sums over the splits of `rows`: the user's scores (`sum`), numbers of relevant training items
-- (`positives`), and splits in which the user has a score (`count`).
local function by_user(rows)
  local users = {}
  for _, row in ipairs(rows) do
    local found = row.per_list()
    for i, user in ipairs(found.users) do
      local one, score = users[user] or { sum = 0.0, positives = 0.0, count = 0 }, found.scores[i]
      if score == score then
        users[user] = one
        one.sum, one.positives, one.count = one.sum + score, one.positives + found.positives[i], one.count + 1
      end
    end
  end
  return users
end

---Computes, for every user, the difference between the mean scores under two losses, each over all
---splits, and log2 of the user's mean number of relevant training items. Users without a score under
---one of the losses are left out.
---@param rows sigir21.Row[]   rows of one loss
---@param others sigir21.Row[] rows of another loss, with the same metric, data set and NSR
---@return number[] positives  log2 of the numbers of relevant training items
---@return number[] differences
function M.differences(rows, others)
  local first, second, ids, x, y = by_user(rows), by_user(others), {}, {}, {}
  for user in pairs(first) do ids[#ids + 1] = user end
  table.sort(ids)
  for _, user in ipairs(ids) do
    local a, b = first[user], second[user]
    local change = b and a.sum / a.count - b.sum / b.count or 0 / 0
    if change == change and a.positives > 0 then
      x[#x + 1], y[#y + 1] = math.log(a.positives / a.count, 2), change
    end
  end
  return x, y
end

return M
