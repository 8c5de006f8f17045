-- The conventions under which trials evaluated their metrics, below the tables of a study.
local check = require "moonrank.check"
local conventions = require "moonrank.metrics.conventions"
local frame = require "moonrank.sweep.frame"
local registry = require "moonrank.metrics.registry"

local M = {}

-- What is kept for each trial, by its number: a text per name of a metric.
local function kept_of(results)
  local by_number = results._data.conventions
  if by_number then return by_number end
  by_number = {}
  for number, json in pairs(results._store:conventions(results.study)) do
    local ok, texts = check.attempt(frame.from_json, json)
    if not ok then check.fail("%s: trial %d: the conventions of its metrics are not readable: %s", results.path, number, texts) end
    by_number[number] = texts
  end
  results._data.conventions = by_number
  return by_number
end

-- The text for a column, which may be a metric on validation, "valid_ndcg", or the number that counts.
local function text_of(results, texts, column)
  if column == "value" then column = results.study.metric or column end
  local own = registry.our_name(column)
  for _, name in ipairs{ column, own, own:match "^valid_(.+)$" or own, own:match "^test_(.+)$" or own } do
    if type(texts[name]) == "string" then return name, texts[name] end
  end
end

---The line of conventions below a table of these columns; nothing where trials kept none.
---@param results mr.Results
---@param numbers integer[]  of the trials
---@param columns string[]   names of columns, those of metrics among them
---@return string[]
function M.notes(results, numbers, columns)
  local by_number, shown, metrics = kept_of(results), {}, {}
  for _, number in ipairs(numbers) do
    for _, column in ipairs(by_number[number] and columns or {}) do
      local name, text = text_of(results, by_number[number], column)
      local key = name and name .. "\0" .. text
      if key and not shown[key] then
        metrics[#metrics + 1], shown[key] = conventions.kept(name, text), true
      end
    end
  end
  return #metrics > 0 and { conventions.line(metrics) } or {}
end

---A table of some rows of trials, with the line of conventions below it.
---@param results mr.Results
---@param made mr.Table
---@param data mr.results.Columns
---@param rows integer[]
---@param columns? string[]  names of columns, those of metrics among them (default: the table's)
---@return mr.Table
function M.below(results, made, data, rows, columns)
  local number, numbers = data:column("results", "number"), {}
  for i, row in ipairs(rows) do numbers[i] = number[row] end
  made.notes = M.notes(results, numbers, columns or made.columns)
  return made
end

-- Whether two metrics have different values of an option that both have; cutoffs are in names.
local function differ(a, b)
  for _, option in ipairs{ "gain", "ties", "empty", "relevant", "denominator" } do
    local x, y = a.kept[option], b.kept[option]
    if x and y and x ~= y then return true end
  end
  return false
end

---Raises where two of these trials evaluated a column under different conventions.
---@param where string
---@param results mr.Results
---@param numbers integer[]
---@param column string
function M.check(where, results, numbers, column)
  local by_number, first, first_number = kept_of(results), nil, nil
  for _, number in ipairs(numbers) do
    local name, text = text_of(results, by_number[number] or {}, column)
    local own = name and conventions.kept(name, text)
    if own and first and differ(own, first) then
      check.fail("%s: trials %d and %d evaluated '%s' under different conventions. Trial %d: %s. Trial %d: %s. Compare trials with "
        .. "the same options, by where = {...}", where, first_number, number, column, first_number, conventions.line{ first }, number,
        conventions.line{ own })
    end
    if own and not first then first, first_number = own, number end
  end
end

return M
