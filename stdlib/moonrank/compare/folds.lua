-- Combines several runs of each system in mr.compare, e.g. one per fold, to one value per user or query.
local core = require "moonrank.core"
local check = require "moonrank.check"
local conventions = require "moonrank.metrics.conventions"
local evaluate = require "moonrank.evaluate"
local fingerprint = require "moonrank.data.fingerprint"
local repeated = require "moonrank.compare.repeated"

local M = {}

local where = "mr.compare"

---Returns true if `value` is a list with one element per fold or seed: an array without a metatable, not empty.
function M.is_list(value) return type(value) == "table" and getmetatable(value) == nil and #value > 0 end

---Returns the number of runs of each system (1 if none is a list of runs). Different numbers of runs are an error, and
---so is another number of elements of the option `qrels`, if it is a list.
---@param o table                   options of mr.compare
---@param given table<string, any>  systems by name
---@param names string[]            names of the systems
---@return integer
function M.count(o, given, names)
  local count, first
  for _, name in ipairs(names) do
    local own = M.is_list(given[name]) and #given[name] or 1
    first, count = first or name, count or own
    check.length(where, ("the list of runs of '%s'"):format(name), own, count, ("as that of '%s' has"):format(first))
  end
  if M.is_list(o.qrels) then check.length(where, "qrels", #o.qrels, count, "one for each run of a system") end
  return count or 0
end

-- Gives lists that have neither users nor ids their positions as names. The lists must then be the same in every fold.
local function name_lists(folds, names)
  for _, fold in ipairs(folds) do
    local lists, first = fold.lists, folds[1].lists
    if not fold.units then
      if fold ~= folds[1] and not (lists and first and fingerprint.combined(lists) == fingerprint.combined(first)) then
        check.fail("%s: the lists of '%s' have neither users nor ids, so the lists of one query in several runs are "
          .. "not known. Pass lists with ids: mr.lists{relevance = ..., ids = ...}", where, names[1])
      end
      fold.units = {}
      for i = 1, #fold.values[fold.metrics[1].name][names[1]] do fold.units[i] = ("%d"):format(i) end
    end
  end
end

-- Raises an error if two folds differ in their metrics, or in a metric's conventions (gain, ties, empty lists).
local function check_folds(folds, names)
  local function named(metric) return metric and ("'%s'"):format(metric.name) or "missing" end
  for f, fold in ipairs(folds) do
    for i = 1, math.max(#fold.metrics, #folds[1].metrics) do
      local metric, other = folds[1].metrics[i], fold.metrics[i]
      if not metric or not other or other.name ~= metric.name then
        check.fail("%s: runs 1 and %d of '%s' were evaluated by different metrics: metric %d of run 1 is %s, and that "
          .. "of run %d is %s. Evaluate all runs by the same metrics", where, f, names[1], i, named(metric), f,
          named(other))
      end
      if not evaluate.same_metric(metric, other) then
        check.fail("%s: runs 1 and %d of '%s' were evaluated under different conventions of '%s': %s. Evaluate all "
          .. "runs with the same options", where, f, names[1], metric.name,
          conventions.difference(metric, other, "run 1", ("run %d"):format(f)))
      end
    end
  end
end

---Returns the note lines on evaluations: which candidates were ranked, how many users, items or queries were not in the
---training data, and how many queries only the run or only the judgments have. A line that is true of only some
---evaluations begins with the names of their systems.
---@param systems table<string, { evaluation?: table }>
function M.about(systems, names)
  local said, lines, count = {}, {}, 0
  for _, name in ipairs(names) do
    local evaluation = systems[name].evaluation
    count = count + (evaluation and 1 or 0)
    for _, line in ipairs(evaluation and evaluate.about(evaluation) or {}) do
      if not said[line] then
        lines[#lines + 1], said[line] = line, {}
      end
      table.insert(said[line], name)
    end
  end
  for i, line in ipairs(lines) do
    if #said[line] < count then lines[i] = ("'%s': %s"):format(table.concat(said[line], "', '"), line) end
  end
  return lines
end

-- Returns the notes of all runs. A note that is true of only some runs begins with the run's number.
local function lines_of(folds)
  local runs_of, lines, said = {}, {}, {}
  for _, fold in ipairs(folds) do
    table.move(fold.notes, 1, #fold.notes, #fold.about + 1, fold.about)
    for _, line in ipairs(fold.about) do runs_of[line] = (runs_of[line] or 0) + 1 end
  end
  for f, fold in ipairs(folds) do
    for _, line in ipairs(fold.about) do
      local text = runs_of[line] == #folds and line or ("run %d: %s"):format(f, line)
      if not said[text] then lines[#lines + 1], said[text] = text, true end
    end
  end
  return lines
end

---Returns, by metric and system, a tensor with one value per user or query: the mean over the lists of this user or
---query in all folds. Also returns the notes of all folds, and the names of the users or queries. It is an error if
---folds were measured by different metrics.
---@param folds table[]    what was measured in each fold: metrics, values, notes and names of lists
---@param names string[]   names of the systems
---@return table<string, table<string, mr.Tensor>> values
---@return string[] notes
---@return string[] units
function M.combined(folds, names)
  check_folds(folds, names)
  name_lists(folds, names)
  local values, notes, units, lists = {}, {}, nil, nil
  for _, metric in ipairs(folds[1].metrics) do
    local parts = {}
    for f, fold in ipairs(folds) do
      parts[f] = { units = fold.units, values = {} }
      for _, name in ipairs(names) do parts[f].values[name] = core.numbers(fold.values[metric.name][name]) end
    end
    local averaged
    units, averaged, lists = repeated.averaged(parts, names)
    values[metric.name] = #folds == 1 and lists == #units and folds[1].values[metric.name] or averaged
  end
  notes[1] = repeated.note(lists, #units)
  for _, line in ipairs(lines_of(folds)) do notes[#notes + 1] = line end
  return values, notes, units
end

---Returns the mean numbers of relevant rows and of rows of each user or query, over its lists in all folds.
---@param folds table[]
---@return { relevant: number[], rows: number[] }
function M.shapes(folds)
  local parts = {}
  for f, fold in ipairs(folds) do parts[f] = { units = fold.units, values = fold.shapes() } end
  local _, shapes = repeated.averaged(parts, { "relevant", "rows" })
  return { relevant = core.numbers(shapes.relevant), rows = core.numbers(shapes.rows) }
end

local function is_interrupted(run) return type(run) == "table" and rawget(run, "interrupted") == true end

---Returns the names of the systems without an interrupted run. A system with an interrupted run is not compared,
---because that run was not evaluated on test data.
---@param given table<string, any>  systems by name
---@param names string[]            names of all systems
---@return string[] tested
---@return table<string, integer> interrupted  number of interrupted runs, by name of each system that has any
---@return string[] words  a message about each such system
function M.tested(given, names)
  local tested, interrupted, words = {}, {}, {}
  for _, name in ipairs(names) do
    local runs, count = M.is_list(given[name]) and given[name] or { given[name] }, 0
    for _, run in ipairs(runs) do count = count + (is_interrupted(run) and 1 or 0) end
    if count == 0 then
      tested[#tested + 1] = name
    else
      interrupted[name] = count
      local form = "'%s' is not compared: its training was interrupted in %d of %d runs"
      words[#words + 1] = form:format(name, count, #runs)
    end
  end
  return tested, interrupted, words
end

return M
