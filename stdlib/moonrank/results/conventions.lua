-- Makes the notes below a study's tables: users and items that training did not see, and metrics' conventions.
local check = require "moonrank.check"
local conventions = require "moonrank.metrics.conventions"
local forced = require "moonrank.sweep.forced"
local frame = require "moonrank.sweep.frame"
local novelty = require "moonrank.data.novelty"
local registry = require "moonrank.metrics.registry"

local M = {}

-- Returns, for each trial's number, a table from a metric's name to the text of its conventions, as the store has them.
local function kept_of(results)
  local by_number = results._data.conventions
  if by_number then return by_number end
  by_number = {}
  for number, json in pairs(results._store:conventions(results.study)) do
    local ok, texts = check.attempt(frame.from_json, json)
    if not ok then
      check.fail("%s: trial %d: the conventions of its metrics are not readable: %s", results.path, number, texts)
    end
    by_number[number] = texts
  end
  results._data.conventions = by_number
  return by_number
end

-- Returns the names under which the store may have the conventions of a column. For a column such as "valid_ndcg" or
-- "test_ndcg", the last one is the metric's name "ndcg". The column "value" stands for the study's metric.
local function names_of(results, column)
  local numbers = results:columns():numbers()
  if column == "value" then column = results.study.metric or #numbers == 1 and numbers[1] or column end
  local own = registry.our_name(column)
  return { column, own, own:match "^valid_(.+)$" or own:match "^test_(.+)$" }
end

-- Returns the first of some names under which `texts` has a text, and that text. `prefix` is put before each name.
local function text_of(texts, names, prefix)
  for _, name in ipairs(names) do
    local text = texts[(prefix or "") .. name]
    if type(text) == "string" then return name, text end
  end
end

-- Returns an entry for each of the columns that has numbers returned by trials: the column's values, and the names
-- under which the store may have the conventions of the column's metric.
local function shown_columns(results, data, columns)
  local shown = {}
  local function is_number(name) return name == "value" or data:is_number(name) end
  for _, column in ipairs(columns) do
    local name = is_number(column) and column or registry.our_name(column)
    if is_number(name) then
      shown[#shown + 1] = { names = names_of(results, name), values = data:_column("results", name) }
    end
  end
  return shown
end

-- Adds one trial's notes to `said`, which collects the different notes of all rows of a table.
local function add_row(said, texts, shown, row, is_done)
  local function once(key)
    local is_new = not said.keys[key]
    said.keys[key] = true
    return is_new
  end
  for _, column in ipairs(shown) do
    local name, text = text_of(texts, column.names)
    local _, new = text_of(texts, { column.names[1], column.names[2] }, conventions.novelty_prefix)
    if name and once(name .. "\0" .. text) then table.insert(said.metrics, conventions.kept(name, text)) end
    if new and once(new) then table.insert(said.new, novelty.kept(new)) end
    local plain = not name and is_done and column.values[row] and column.names[1]
    if plain and once(plain) and registry.direction(plain) then table.insert(said.unknown, plain) end
  end
end

-- Returns a line that names the numerics versions under which the trials ran (trials of one version are bit-identical
-- when repeated). It is nil if all trials have the same version.
local function numerics_line(results, numbers)
  local of_trial, counts, versions = results._store:numerics_of(results.study), {}, {}
  for _, number in ipairs(of_trial and numbers or {}) do
    local version = of_trial[number] or "not recorded"
    counts[version] = (counts[version] or 0) + 1
  end
  for i, version in ipairs(check.names(counts)) do
    versions[i] = ("%s (%d trial%s)"):format(version, counts[version], counts[version] == 1 and "" or "s")
  end
  return #versions > 1 and ("trials of several numerics versions are mixed: %s"):format(table.concat(versions, ", "))
    or nil
end

---Returns the note lines below a table with the given columns. They say what had changed when the study was continued
---with `force = true`, whether trials of several numerics versions are mixed, and how many evaluated users, items or
---queries were not in the training data. They also state the conventions of the metrics, or
---that the conventions are unknown.
---@param rows integer[]    the shown trials, as indices in `data`
---@param columns string[]  names of the shown columns
function M.notes(results, data, rows, columns)
  local by_number, shown = kept_of(results), shown_columns(results, data, columns)
  local said = { keys = {}, metrics = {}, new = {}, unknown = {} }
  local number, state = data:_column("results", "number"), data:_column("results", "state")
  local numbers = {}
  for i, row in ipairs(rows) do
    numbers[i] = number[row]
    add_row(said, by_number[number[row]] or {}, shown, row, state[row] == "done")
  end
  local notes = { forced.line(results._store:study(results.name) or results.study) }
  notes[#notes + 1] = numerics_line(results, numbers)
  for _, line in ipairs(novelty.lines(said.new)) do notes[#notes + 1] = line end
  if #said.metrics > 0 then notes[#notes + 1] = conventions.line(said.metrics) end
  if #said.unknown > 0 then notes[#notes + 1] = conventions.unknown(said.unknown) end
  return notes
end

---Adds the lines below a table of trials: `first` (a line or nil), the notes that the table has already, and notes on
---mixed versions, unseen users and the conventions of metrics (`notes`). It returns the table.
---@param rows integer[]     the shown trials, as indices in `data`
---@param columns? string[]  names of the shown columns (default: the table's)
---@param first? string
---@return mr.Table
function M.below(results, made, data, rows, columns, first)
  local lines = { first }
  for _, notes in ipairs{ made.notes, M.notes(results, data, rows, columns or made.columns) } do
    table.move(notes, 1, #notes, #lines + 1, lines)
  end
  made.notes = lines
  return made
end

-- Returns true if two metrics differ in an option that both have. Cutoffs are not compared: names contain them.
local function differ(a, b)
  for _, option in ipairs{ "gain", "ties", "empty", "relevant", "denominator" } do
    local x, y = a.kept[option], b.kept[option]
    if x and y and x ~= y then return true end
  end
  return false
end

---Raises an error if two trials evaluated a column's metric under different conventions (gain, ties, empty lists).
---@param numbers integer[]  of the trials
---@param column string
function M.check(where, results, numbers, column)
  local by_number, first, first_number = kept_of(results), nil, nil
  local names = names_of(results, column)
  for _, number in ipairs(numbers) do
    local name, text = text_of(by_number[number] or {}, names)
    local own = name and conventions.kept(name, text)
    if own and first and differ(own, first) then
      check.fail("%s: trials %d and %d evaluated '%s' under different conventions: %s. Compare trials with the same "
        .. "options, by where = {...}", where, first_number, number, column,
        conventions.difference(first, own, ("trial %d"):format(first_number), ("trial %d"):format(number)))
    end
    if own and not first then first, first_number = own, number end
  end
end

return M
