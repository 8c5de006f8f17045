-- Reads what the pages of `moonrank serve` show from a store. The store is opened for each request and closed after it,
-- so that a sweep that writes, or a store that is replaced, is seen at once.
local check = require "moonrank.check"
local core = require "moonrank.core"
local damage = require "moonrank.sweep.damage"
local united = require("moonrank.results.columns").united

local M = {}

---@class mr.serve.Trial
---@field id integer
---@field number integer
---@field state string
---@field value number?
---@field params table<string, any>
---@field cells table<string, any>  parameters, returned numbers and fields of the trial by the column's name

---Returns the studies of a store in the order of their names. Each is the study's row, with its number of trials by
---state (`counts`) and in total (`total`), the time of the last change (`last`) and the best value (`best`).
---@param name? string  only the study of this name
function M.studies(store, name)
  local studies = store:rows("SELECT * FROM studies WHERE ?1 IS NULL OR name = ?1 ORDER BY name", name)
  for _, study in ipairs(studies) do
    study.counts, study.total = {}, 0
    for _, row in ipairs(store:rows([[SELECT state, count(*) AS n, min(value) AS low, max(value) AS high,
        max(ifnull(ended, started)) AS last FROM trials WHERE study = ?1 GROUP BY state]], study.id)) do
      study.counts[row.state], study.total = row.n, study.total + row.n
      if row.last and row.last > (study.last or "") then study.last = row.last end
      if row.state == "done" then study.best = study.direction == "minimize" and row.low or row.high end
    end
  end
  return studies
end

---Returns the study of a store with the given name, as a table like those of `M.studies`; nil if there is none.
function M.study(store, name) return M.studies(store, name)[1] end

-- Adds the numbers that trials returned to the trials' field `cells`. Returns the names of the numbers.
local function add_numbers(store, study, by_id)
  local found = store:columns([[SELECT n.trial, n.name, n.value FROM trials t JOIN numbers n ON n.trial = t.id
    WHERE t.study = ?1]], study.id)
  local numbers, seen, ids, names, values = {}, {}, found.trial, found.name, found.value
  for i = 1, #ids do
    local trial, name = by_id[ids[i]], names[i]
    if trial then
      trial.cells[name] = values[i]
      if not seen[name] and name ~= study.metric then numbers[#numbers + 1] = name end
      seen[name] = true
    end
  end
  table.sort(numbers)
  return numbers
end

-- Reads the trials of a study from the store. Returns an array of four: the trials, the names of their parameters, the
-- names of their numbers, and all these names together.
local function trials_of(store, study)
  local fields = { "id", "number", "state", "value", "wall" }
  local found = store:columns(("SELECT %s, params FROM trials WHERE study = ?1 ORDER BY number"):format(
    table.concat(fields, ", ")), study.id)
  local trials, by_id = {}, {}
  local params, columns, problems = core.json_columns(found.params)
  for i = 1, #found.id do
    if problems[i] == "" then
      local trial = { params = {}, cells = {} }
      for _, name in ipairs(fields) do trial[name] = found[name][i] end
      local own, cells = trial.params, trial.cells
      cells.trial, cells.state, cells.value, cells.seconds = trial.number, trial.state, trial.value, trial.wall
      for c, name in ipairs(params) do own[name], cells[name] = columns[c][i], columns[c][i] end
      if study.metric then cells[study.metric] = trial.value end
      trials[#trials + 1], by_id[trial.id] = trial, trial
    else
      damage.warn(store.path, study, found.number[i], problems[i])
    end
  end
  local numbers = add_numbers(store, study, by_id)
  return { trials, params, numbers, united{ params, numbers } }
end

---Returns the trials of a study in the order of their numbers, the names of their parameters, and the names of the
---numbers that they returned besides the study's metric. Trials with unreadable parameters are left out, with a
---warning.
---@param store mr.sweep.Store  its field `kept`, a table if it is set, caches the trials for later calls
---@return mr.serve.Trial[] trials
---@return string[] params
---@return string[] numbers
---@return string[] columns  parameters and numbers
function M.trials(store, study)
  local kept = store.kept or {}
  kept[study.name] = kept[study.name] or trials_of(store, study)
  return table.unpack(kept[study.name])
end

---Returns the names of the values that trials reported during training, sorted.
function M.curve_names(store, trials)
  local names = {}
  for _, trial in ipairs(trials) do
    for _, name in ipairs(store:columns("SELECT DISTINCT name FROM reports WHERE trial = ?1", trial.id).name) do
      names[name] = true
    end
  end
  return check.names(names)
end

---Returns the reported values of trials: { {step, value}, ... } by the trial's id and the value's name.
---@param name? string  only this value
---@return table<integer, table<string, number[][]>>
function M.curves(store, trials, name)
  local by_id = {}
  for _, trial in ipairs(trials) do
    local of_trial = {}
    for _, row in ipairs(store:rows([[SELECT name, step, value FROM reports WHERE trial = ?1 AND (?2 IS NULL OR
        name = ?2) ORDER BY name, step]], trial.id, name)) do
      of_trial[row.name] = of_trial[row.name] or {}
      table.insert(of_trial[row.name], { row.step, row.value or 0 / 0 })
    end
    by_id[trial.id] = of_trial
  end
  return by_id
end

---Returns a trial of a study with all its fields; nil if there is none.
function M.trial(store, study, number)
  local row = store:rows("SELECT * FROM trials WHERE study = ?1 AND number = ?2", study.id, number)[1]
  if not row then return nil end
  local names, columns, problems = core.json_columns{ row.params }
  row.params_problem, row.params = problems[1] ~= "" and problems[1] or nil, {}
  for c, name in ipairs(names) do row.params[name] = columns[c][1] end
  row.numbers = store:rows("SELECT name, value FROM numbers WHERE trial = ?1 ORDER BY name", row.id)
  return row
end

---Returns the finished trial (state "done") with the best value among `trials`; nil if there is none.
function M.best(study, trials)
  local best, sign = nil, study.direction == "minimize" and -1 or 1
  for _, trial in ipairs(trials) do
    local value = trial.state == "done" and trial.value
    if value and value == value and (not best or sign * value > sign * best.value) then best = trial end
  end
  return best
end

return M
