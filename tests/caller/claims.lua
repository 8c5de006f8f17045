-- Claims that must hold after a successful random call, besides that it did not crash. They are found by the function's
-- name, and checked on its arguments and results.
local core = require "moonrank.core"

local M = {}

-- Returns true if all entries of a tensor are numbers of a usual size.
local function usual(x)
  for _, value in ipairs(x:reshape(x:numel()):totable()) do
    if value ~= value or math.abs(value) > 1e6 then return false end
  end
  return true
end

-- Checks that bounds are not NaN if scores and grades are usual numbers, also for lists whose metric no ordering
-- changes.
local function bounded(lists, scores, ...)
  if not usual(lists.relevance) or scores and not usual(scores) then return end
  for _, x in ipairs{ ... } do
    if select(2, core.without_nan(x)) > 0 then return "gives NaN where its arguments have none" end
  end
end

local function rated_once(users, items)
  local seen, user, item = {}, users:totable(), items:totable()
  for i = 1, #user do
    local pair = user[i] .. " " .. item[i]
    if seen[pair] then return "takes an item of a user twice" end
    seen[pair] = true
  end
end

-- Checks that no item occurs twice in a list.
local function distinct(part)
  local items, at = part.items:totable(), 0
  for list, size in ipairs(part.lists.sizes:totable()) do
    local seen = {}
    for r = at + 1, at + size do
      if seen[items[r]] then return ("gives list %d an item twice"):format(list) end
      seen[items[r]] = true
    end
    at = at + size
  end
end

-- Checks that a pair of user and item is relevant in at most one part (train, validation, test) of a fold.
local function apart(fold)
  local seen = {}
  for _, name in ipairs{ "train", "valid", "test" } do
    local part, at = fold[name], 0
    local users, items, relevance = part.users:totable(), part.items:totable(), part.lists.relevance:totable()
    for list, size in ipairs(part.lists.sizes:totable()) do
      for r = at + 1, at + size do
        local pair = relevance[r] > 0 and users[list] .. " " .. items[r]
        if pair and seen[pair] then
          return ("gives what is relevant to two parts, %s and %s"):format(seen[pair], name)
        end
        if pair then seen[pair] = name end
      end
      at = at + size
    end
  end
end

local rounding = 1e-9

local function within(x, low, high)
  if x == x and (x < low - rounding or x > high + rounding) then
    return ("gives %g, beyond %g to %g"):format(x, low, high)
  end
end

local shares = { ap = true, ndcg = true, nrbp = true, rr = true, precision = true, recall = true, f1 = true,
  hit = true, auc = true }

-- Checks that values of metrics that are shares, such as precision, lie in [0, 1].
local function metric_values(metric, values)
  if not shares[metric.base] then return end
  for _, value in ipairs(values:totable()) do
    local wrong = within(value, 0, 1 + 1e-6)
    if wrong then return ("%s of %s"):format(wrong, metric.name) end
  end
end

local function masses(values, probabilities)
  local v, p, total = values:totable(), probabilities:totable(), 0
  for i = 1, #p do
    total = total + p[i]
    if p[i] < -rounding or i > 1 and v[i] <= v[i - 1] then
      return "gives values out of order, or a negative probability"
    end
  end
  return math.abs(total - 1) > 1e-6 and ("gives probabilities of %g in all"):format(total) or nil
end

local function in_order(x, dim, descending, sorted)
  if x:numel() ~= x:size(dim or 1) or select(2, core.without_nan(x)) > 0 then return end
  local values = sorted:reshape(sorted:numel()):totable()
  for i = 2, #values do
    local low, high = values[i - 1], values[i]
    if descending then low, high = high, low end
    if low > high then return "gives entries out of order" end
  end
end

local function permuted(n, x)
  local values = x:totable()
  table.sort(values)
  for i, value in ipairs(values) do
    if value ~= i then return "gives no permutation" end
  end
  return #values ~= n and "gives no permutation" or nil
end

local function deviation(_, sd)
  if sd == 0 and 1 / sd < 0 then return "gives a deviation of -0" end
end

local function distinct_items(_, results) return distinct(results[1]) end

local function within_range(arguments, results)
  return within(results[1], arguments[1]:min(), arguments[1]:max())
end

---@type table<string, fun(arguments: table, results: table): string?>
local claims = {
  ["core.affine_bound"] = function(arguments, results)
    return bounded(arguments[2], nil, table.unpack(results, 1, 2))
  end,
  ["core.affine_bounded"] = function(arguments, results) return bounded(arguments[3], arguments[1], results[1]) end,
  ["core.distribution_bound"] = function(arguments, results) return bounded(arguments[2], arguments[1], results[1]) end,
  ["core.distribution_of"] = function(arguments)
    local x = arguments[1]:to "float64"
    return (core.first_beyond(x, 1e300) or select(2, core.without_nan(x)) > 0) and "takes NaN or infinity" or nil
  end,
  ["core.least_squares"] = function(arguments) return arguments[1]:size(2) == 0 and "takes no columns" or nil end,
  ["core.make_fold"] = function(_, results)
    return distinct(results[1].train) or distinct(results[1].valid) or distinct(results[1].test) or apart(results[1])
  end,
  ["core.catalogue_lists"] = distinct_items,
  ["core.sampled_lists"] = distinct_items,
  ["core.permutation"] = function(arguments, results) return permuted(arguments[1], results[1]) end,
  ["core.sort"] = function(arguments, results)
    return in_order(arguments[1], arguments[2], arguments[3], results[1])
  end,
  ["core.bootstrap_interval"] = function(_, results)
    return results[1] > results[2] and "gives a low end above the high one" or nil
  end,
  ["mr.Distribution:cdf"] = function(_, results) return within(results[1], 0, 1) end,
  ["mr.Distribution:quantile"] = within_range,
  ["mr.Distribution:mean"] = within_range,
  ["mr.Distribution:pmf"] = function(_, results) return masses(results[1], results[2]) end,
  ["mr.Metric:values"] = function(arguments, results) return metric_values(arguments[1], results[1]) end,
  ["core.positives"] = function(arguments) return rated_once(arguments[1], arguments[2]) end,
  ["core.summary"] = function(_, results) return deviation(table.unpack(results, 1, 2)) end,
  ["core.track"] = function(arguments) return not arguments[1].tracked and "leaves its tensor as it was" or nil end,
}

---The claim that a successful call breaks, or nil.
---@param name string
---@param arguments table
---@param results table
---@return string?
function M.broken(name, arguments, results)
  local first = results[1]
  local p = type(first) == "table" and not getmetatable(first) and first.p
  if type(p) == "number" and (p < 0 or p > 1) then return ("gives a p of %g"):format(p) end
  return claims[name] and claims[name](arguments, results) or nil
end

-- Functions that may overwrite any regular file, so an overwritten file is not a bug.
local replaces = { ["core.write_file"] = true, ["core.write_trec_run"] = true, ["mr.Profiler:save_trace"] = true }

local files = { "letor.txt", "labels.csv", "picture.png", "broken.jpg", "run.txt", "qrels.txt", "libraries.txt",
  "fifo", "folder" }

local function state_of(path)
  if not core.is_file(path) then return core.file_exists(path) and "no file" or nil end
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

---Watches the files that a session's folder began with: what a call did to the one that it names.
---@param folder? string  default the working folder
---@return fun(name: string, arguments: table): string?
function M.watch(folder)
  local was, place = {}, folder or ""
  for _, path in ipairs(files) do was[path] = state_of(place .. path) end
  return function(name, arguments)
    for i = 1, arguments.n do
      local path = arguments[i]
      local before = type(path) == "string" and was[path]
      local now = before and state_of(place .. path)
      if now ~= before then
        was[path] = now
        -- an empty file may get any contents, and a lock file, which has only digits, another number
        local lost = before:find "[^%d\n]" and before ~= "no file" and not replaces[name]
        if lost or before == "no file" then return "replaces " .. path end
      end
    end
  end
end

return M
