-- Reads the trials of a study as columns: an array for each parameter, returned number and other field.
local core = require "moonrank.core"
local check = require "moonrank.check"
local damage = require "moonrank.sweep.damage"
local digits = require "moonrank.system.digits"
local left_out = require "moonrank.results.left_out"
local metrics = require "moonrank.metrics.registry"

local M = {}

---Trials of a study as columns, as results:columns returns them.
---@class mr.results.Columns
---@field count integer   number of trials
local Columns = check.class("mr.results.Columns")

---Returns the names in several lists, each name once, in the order of their first places.
---@param lists string[][]
---@return string[]
function M.united(lists)
  local names, seen = {}, {}
  for _, list in ipairs(lists) do
    for _, name in ipairs(list) do
      if not seen[name] then names[#names + 1], seen[name] = name, true end
    end
  end
  return names
end

---Returns the heads of columns of parameters in a table that has other columns as well: the names of the parameters,
---with "parameter " in front of a name that another column has.
---@param params string[]
---@param others string[]  heads of the other columns
---Example: `require("moonrank.results.columns").heads({"lr", "p"}, {"mean", "p"})[2]   --> parameter p`
function M.heads(params, others)
  local heads, taken = {}, {}
  for _, name in ipairs(others) do taken[name] = true end
  for i, name in ipairs(params) do heads[i] = taken[name] and "parameter " .. name or name end
  return heads
end

local of_trial = { number = true, state = true, attempts = true, seed = true, value = true, reason = true,
  traceback = true, wall = true, memory = true, device = true, version = true, started = true, ended = true }

-- Decodes the parameters of trials. Returns the parameters' names, a column for each parameter, and the columns of
-- other fields. Trials with unreadable parameters are left out, with a warning.
local function readable(store, study, found)
  local names, columns, problems = core.json_columns(found.params)
  local good = {}
  for i, problem in ipairs(problems) do
    if problem == "" then good[#good + 1] = i
    else damage.warn(store.path, study, found.number[i], problem)
    end
  end
  if #good == #problems then return names, columns, found end
  local function picked(column)
    local out = {}
    for row, i in ipairs(good) do out[row] = column[i] end
    return out
  end
  local fields = {}
  for name, column in pairs(found) do fields[name] = picked(column) end
  for c, column in ipairs(columns) do columns[c] = picked(column) end
  return names, columns, fields
end

---Loads the trials of a study that are in one of `states`, as columns. Trials whose stored
---parameters cannot be read are left out, with a warning.
---@param store mr.sweep.Store
---@param study table      the study's row in the store
---@param states string[]  "done", "pruned", ...
---@return mr.results.Columns
function M.load(store, study, states)
  local marks = {}
  for i = 1, #states do marks[i] = "?" .. i + 1 end
  local found = store:columns(([[SELECT id, number, params, value, state FROM trials WHERE study = ?1 AND state IN (%s)
    ORDER BY number]]):format(table.concat(marks, ", ")), study.id, table.unpack(states))
  local names, columns
  names, columns, found = readable(store, study, found)
  local self = setmetatable({ count = #found.id, params = names, _store = store, _study = study, _states = states,
    _id = found.id, _columns = { number = found.number, value = found.value, state = found.state }, _rows = false,
    _numbers = false }, Columns)
  for i, name in ipairs(names) do self._columns[name] = columns[i] end
  -- no trial is in a state that the caller wants: take the parameters' names from trials in all states
  if self.count == 0 then
    self.params = store:columns([[SELECT DISTINCT p.key AS key FROM trials t,
      json_each(CASE WHEN json_valid(t.params) THEN t.params ELSE '{}' END) p WHERE t.study = ?1
      ORDER BY p.key]], study.id).key
    for _, name in ipairs(self.params) do self._columns[name] = {} end
  end
  return self
end

function Columns:__tostring()
  local names = table.move(self:numbers(), 1, #self:numbers(), #self.params + 1, { table.unpack(self.params) })
  return ("mr.results.Columns of %d trials: %s"):format(self.count, core.safe_text(table.concat(names, ", ")))
end

-- Returns a table that maps the id of a trial in the store to the trial's row in the columns.
function Columns:_row_of()
  if not self._rows then
    self._rows = {}
    for row, id in ipairs(self._id) do self._rows[id] = row end
  end
  return self._rows
end

-- Runs an SQL query whose result has the columns `id` (of a trial) and `value`. Returns the values by the trial's row
-- in the columns; nil for trials that the result does not contain.
function Columns:_read(sql, ...)
  local found, row_of, column = self._store:columns(sql, self._study.id, ...), self:_row_of(), {}
  for i, id in ipairs(found.id) do
    if row_of[id] then column[row_of[id]] = found.value[i] end
  end
  return column
end

---Returns the sorted names of all numbers that trials of the study returned, such as "ndcg@10".
---@return string[]
function Columns:numbers()
  if not self._numbers then
    self._numbers = self._store:columns(
      [[SELECT DISTINCT name FROM numbers WHERE trial IN (SELECT id FROM trials WHERE study = ?1)
      ORDER BY name]], self._study.id).name
  end
  return self._numbers
end

---Returns true if trials of the study returned a number of this name.
---@param name string
---@return boolean
function Columns:is_number(name)
  for _, each in ipairs(self:numbers()) do
    if each == name then return true end
  end
  return false
end

-- Returns a column by name. `where` is the name of the called function, for the error about an unknown name.
function Columns:_column(where, name)
  if self._columns[name] then return self._columns[name] end
  local own = metrics.our_name(name)
  if not self:is_number(name) and self:is_number(own) then return self:_column(where, own) end
  if self:is_number(name) then
    self._columns[name] = self:_read([[SELECT n.trial AS id, n.value FROM numbers n JOIN trials t ON t.id = n.trial
      WHERE t.study = ?1 AND n.name = ?2]], name)
  elseif of_trial[name] then
    self._columns[name] = self:_read(("SELECT id, %s AS value FROM trials WHERE study = ?1"):format(name))
  else
    local all = check.names(of_trial)
    for _, more in ipairs{ self.params, self:numbers() } do table.move(more, 1, #more, #all + 1, all) end
    check.unknown("column for " .. where, name, all)
  end
  return self._columns[name]
end

---Returns a column by name: a parameter, a returned number, or a field of trials such as "wall".
---The column has an entry for each trial: nil if the trial has no value, or if the value is NaN. An
---unknown name is an error.
---@param name string
---@return table<integer, any>
function Columns:column(name) return self:_column("results:columns", name) end

---Returns the name of the number by which the study compares trials: its metric or, without one, the
---only number that its trials returned. Returns nil if trials of a study without a metric returned
---several numbers.
---@return string?
function Columns:metric()
  local numbers = self:numbers()
  return self._study.metric or #numbers == 1 and numbers[1] or nil
end

---Returns a column by trial, like Columns:column, but for a table that is shown: a number is NaN, not
---nil, where a trial returned NaN, which SQLite stores as NULL. It is nil where a trial did not return
---the number. The name "value" stands for the study's metric. An unknown name is an error.
---@param where string  name of the called function, for errors
---@param name string
---@return table<integer, any>
function Columns:shown(where, name)
  local column, shown = self:_column(where, name), {}
  local own = name == "value" and self:metric() or metrics.our_name(name)
  if not self:is_number(name) and not self:is_number(own) then return column end
  local found = self._store:columns([[SELECT n.trial AS id FROM numbers n JOIN trials t ON t.id = n.trial
    WHERE t.study = ?1 AND n.name IN (?2, ?3) AND n.value IS NULL]], self._study.id, name, own)
  if #found.id == 0 then return column end
  for row = 1, self.count do shown[row] = column[row] end
  for _, id in ipairs(found.id) do
    local row = self:_row_of()[id]
    if row and shown[row] == nil then shown[row] = 0 / 0 end
  end
  return shown
end

-- Returns true if `value` is a key of `values`, to nine digits: a grid's 0.00099999999999 is printed as 0.001.
local function is_one_of(value, values)
  if values[value] then return true end
  for other in pairs(type(value) == "number" and values or {}) do
    local near = type(other) == "number"
      and math.abs(value - other) <= 1e-9 * math.max(math.abs(value), math.abs(other))
    if near then return true end
  end
  return false
end

local function before(a, b)
  if type(a) ~= type(b) then return type(a) < type(b) end
  if type(a) == "boolean" then return not a and b end
  return a < b
end

-- Returns at most five of the different values of a column as a text in which numbers have all digits. The values
-- nearest to the number `wanted` are first. Returns "" if the column has no value.
local function offered(column, count, wanted)
  local values, seen = {}, {}
  for row = 1, count do
    local value = column[row]
    if value ~= nil and not seen[value] then values[#values + 1], seen[value] = value, true end
  end
  local function distance(value)
    return type(value) == "number" and type(wanted) == "number" and math.abs(value - wanted) or math.huge
  end
  table.sort(values, function(a, b)
    if distance(a) ~= distance(b) then return distance(a) < distance(b) end
    return before(a, b)
  end)
  local texts = {}
  for i = 1, math.min(5, #values) do
    texts[i] = type(values[i]) == "number" and digits.shortest(values[i]) or check.found(values[i])
  end
  return table.concat(texts, ", ") .. (#values > 5 and ", ..." or "")
end

-- Returns whether a row of the columns has a value in the column `name`.
local function has_value(columns, where, name, value)
  local column = columns:_column(where, name)
  for row = 1, columns.count do
    if column[row] ~= nil and is_one_of(column[row], { [value] = true }) then return true end
  end
  return false
end

-- Raises an error if no trial of the study, in whatever state, has the value `wanted` in a column. It is not an error
-- if the study has no trials, or no trial in a known state.
function Columns:_check_wanted(where, name, wanted)
  local all = M.load(self._store, self._study, left_out.states)
  if all.count == 0 or name == "state" and left_out.are_states{ wanted } then return end
  if has_value(all, where, name, wanted) then return end
  local values, is_number = offered(all:_column(where, name), all.count, wanted), type(wanted) == "number"
  check.fail("%s: `where` has %s = %s, but no trial has this value. %s%s%s", where, name,
    is_number and digits.shortest(wanted) or check.found(wanted),
    values == "" and "No trial has a value of " .. name or is_number and "The nearest values are " or "The values are ",
    values, is_number and ". Write all digits of a value" or "")
end

---Returns the rows (indices in the columns) of trials that have the wanted values: one value, or a
---list of allowed values, for each wanted column, e.g. {loss = "ndcg", fold = {1, 2}}. Numbers are
---compared to nine digits. Without `wanted`, all rows are returned.
---@param where string  name of the called function, for errors
---@param wanted? table<string, any>
---@return integer[]
function Columns:rows(where, wanted)
  local rows, tests = {}, {}
  for name, values in pairs(wanted or {}) do
    local set = {}
    for _, value in ipairs(type(values) == "table" and values or { values }) do set[value] = true end
    tests[#tests + 1] = { self:_column(where, name), set }
  end
  for row = 1, self.count do
    local good = true
    for _, test in ipairs(tests) do
      local value = test[1][row]
      good = good and value ~= nil and is_one_of(value, test[2])
    end
    if good then rows[#rows + 1] = row end
  end
  return rows
end

-- Like `rows`, for methods of results: a wanted value that no trial of the study has, in whatever state, is an error.
function Columns:_wanted_rows(where, wanted)
  local rows = self:rows(where, wanted)
  for name, values in pairs(wanted or {}) do
    for _, value in ipairs(type(values) == "table" and values or { values }) do
      if not has_value(self, where, name, value) then self:_check_wanted(where, name, value) end
    end
  end
  return rows
end

---Returns groups of the given rows, with equal values in the columns `names`: the values (`key`)
---and the rows. Groups are sorted by these values. A row that lacks a value in one of the columns
---is left out.
---@param where string    name of the called function, for errors
---@param names string[]  of columns
---@param rows integer[]  indices in the columns
---@return { key: any[], rows: integer[] }[]
function Columns:groups(where, names, rows)
  local columns, root, groups = {}, {}, {}
  for i, name in ipairs(names) do columns[i] = self:_column(where, name) end
  for _, row in ipairs(rows) do
    local at, key = root, {}
    for i, column in ipairs(columns) do
      key[i] = column[row]
      if key[i] == nil then
        at = nil
        break
      end
      at[key[i]] = at[key[i]] or {}
      at = at[key[i]]
    end
    if at then
      -- The group of a combination is stored in the innermost of the nested tables, which are indexed by the values of
      -- parameters. Its key is this table itself, which cannot be equal to the value of a parameter.
      if not at[at] then
        at[at] = { key = key, rows = {} }
        groups[#groups + 1] = at[at]
      end
      table.insert(at[at].rows, row)
    end
  end
  table.sort(groups, function(a, b)
    for i = 1, #names do
      if a.key[i] ~= b.key[i] then return before(a.key[i], b.key[i]) end
    end
    return false
  end)
  return groups
end

return M
