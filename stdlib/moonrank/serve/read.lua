-- Reads what the pages of `moonrank serve` show from a store. The store is opened for each request and closed after it,
-- so that a sweep that writes, or a store that is replaced, is seen at once.
local core = require "moonrank.core"
local damage = require "moonrank.sweep.damage"

local M = {}

---@class mr.serve.Trial
---@field id integer
---@field number integer
---@field state string
---@field value number?
---@field params table<string, any>
---@field cells table<string, any>  parameters, returned numbers and fields of the trial by the column's name

---Returns the studies of a store in the order of their names, with the numbers of their trials.
---@param store mr.sweep.Store
---@return table[]
function M.studies(store)
  local studies, by_id = store:rows "SELECT * FROM studies ORDER BY name", {}
  for _, study in ipairs(studies) do
    by_id[study.id] = study
    study.counts, study.total = {}, 0
  end
  for _, row in ipairs(store:rows [[SELECT study, state, count(*) AS n, min(value) AS low, max(value) AS high,
      max(ifnull(ended, started)) AS last FROM trials GROUP BY study, state]]) do
    local study = by_id[row.study]
    if study then
      study.counts[row.state], study.total = row.n, study.total + row.n
      if row.last and row.last > (study.last or "") then study.last = row.last end
      if row.state == "done" then study.best = study.direction == "minimize" and row.low or row.high end
    end
  end
  return studies
end

---Returns a study of `studies` by its name; nil if there is none.
---@param store mr.sweep.Store
---@param name string
---@return table?
function M.study(store, name)
  for _, study in ipairs(M.studies(store)) do
    if study.name == name then return study end
  end
end

-- Returns the columns of trials in the order in which tables show them: parameters, then returned numbers.
local function names_of(params, numbers)
  local names, seen = {}, {}
  for _, list in ipairs{ params, numbers } do
    for _, name in ipairs(list) do
      if not seen[name] then names[#names + 1] = name end
      seen[name] = true
    end
  end
  return names
end

---Returns the trials of a study in the order of their numbers, the names of their parameters, and the
---names of the numbers that they returned. Trials with unreadable parameters are left out.
---@param store mr.sweep.Store
---@param study table
---@return mr.serve.Trial[] trials
---@return string[] params
---@return string[] numbers
---@return string[] columns  parameters and numbers
function M.trials(store, study)
  local rows = store:rows([[SELECT id, number, state, params, value, wall, started, ended, seed FROM trials
    WHERE study = ?1 ORDER BY number]], study.id)
  local texts, trials, by_id = {}, {}, {}
  for i, row in ipairs(rows) do texts[i] = row.params end
  local params, columns, problems = core.json_columns(texts)
  for i, row in ipairs(rows) do
    if problems[i] == "" then
      row.params, row.cells = {}, { trial = row.number, state = row.state, value = row.value, seconds = row.wall }
      for c, name in ipairs(params) do row.params[name], row.cells[name] = columns[c][i], columns[c][i] end
      if study.metric then row.cells[study.metric] = row.value end
      trials[#trials + 1], by_id[row.id] = row, row
    else
      damage.warn(store.path, study, row.number, problems[i])
    end
  end
  local numbers, seen = {}, {}
  for _, row in ipairs(store:rows([[SELECT n.trial, n.name, n.value FROM numbers n JOIN trials t ON t.id = n.trial
      WHERE t.study = ?1 ORDER BY n.name]], study.id)) do
    if by_id[row.trial] then
      by_id[row.trial].cells[row.name] = row.value
      if not seen[row.name] and row.name ~= study.metric then numbers[#numbers + 1] = row.name end
      seen[row.name] = true
    end
  end
  return trials, params, numbers, names_of(params, numbers)
end

---Returns the names of the values that trials of a study reported during training.
---@return string[]
function M.curve_names(store, study)
  local found = store:columns([[SELECT DISTINCT r.name FROM reports r JOIN trials t ON t.id = r.trial
    WHERE t.study = ?1 ORDER BY r.name]], study.id)
  return found.name
end

---Returns the reported values of trials: { {step, value}, ... } by the trial's id and the value's
---name.
---@param store mr.sweep.Store
---@param trials mr.serve.Trial[]
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
---@param store mr.sweep.Store
---@param study table
---@param number integer
---@return table?
function M.trial(store, study, number)
  local row = store:rows("SELECT * FROM trials WHERE study = ?1 AND number = ?2", study.id, number)[1]
  if not row then return nil end
  local names, columns, problems = core.json_columns{ row.params }
  row.params_problem, row.params = problems[1] ~= "" and problems[1] or nil, {}
  for c, name in ipairs(names) do row.params[name] = columns[c][1] end
  row.numbers = store:rows("SELECT name, value FROM numbers WHERE trial = ?1 ORDER BY name", row.id)
  return row
end

---Returns the trials of a list that are in states in which they have a value, the best first.
---@param study table
---@param trials mr.serve.Trial[]
---@return mr.serve.Trial[]
function M.ranked(study, trials)
  local out, sign = {}, study.direction == "minimize" and 1 or -1
  for _, trial in ipairs(trials) do
    if trial.state == "done" and trial.value and trial.value == trial.value then out[#out + 1] = trial end
  end
  table.sort(out, function(a, b)
    if a.value ~= b.value then return sign * a.value < sign * b.value end
    return a.number < b.number
  end)
  return out
end

return M
