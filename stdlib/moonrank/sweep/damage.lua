-- Finds damaged rows of a store and their trials. Readers leave them out with a warning, writers refuse the store.
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

-- For each declared type of a column, the SQLite types that its entries may have. SQLite itself does not enforce types.
local held = { INTEGER = "'integer'", REAL = "'real', 'integer'", TEXT = "'text'", BLOB = "'text', 'blob'" }

---@class mr.sweep.store.Check
---@field table string
---@field bad string   SQL of a row: a text about a column with an entry of a wrong type, or NULL
---@field find string  a statement that returns the first such text, the number of its trial and the number of such rows

---Returns SQL statements that find entries of a wrong type in the table `name` of a store.
function M.check_of(database, name)
  local _, columns, count = database:run([[SELECT name, type, "notnull" FROM pragma_table_info(?1)]], { name }, 1)
  local cases, trial = {}, name == "trials" and "number" or "NULL"
  for i = 1, count do
    local types = held[columns[2][i]] .. (columns[3][i] == 1 and "" or ", 'null'")
    if columns[1][i] == "trial" then trial = ("(SELECT number FROM main.trials WHERE id = %s.trial)"):format(name) end
    cases[i] = ("WHEN typeof(%s) NOT IN (%s) THEN '%s.%s holds a ' || typeof(%s)"):format(columns[1][i], types, name,
      columns[1][i], columns[1][i])
  end
  local bad = ("CASE %s END"):format(table.concat(cases, " "))
  local find = [[SELECT bad, trial, count(*) OVER () FROM (SELECT %s AS bad, %s AS trial FROM main.%s)
    WHERE bad IS NOT NULL ORDER BY trial LIMIT 1]]
  return { table = name, bad = bad, find = find:format(bad, trial, name) }
end

local function damage_text(path, number, why)
  return core.safe_text(("%s: trial %s is damaged: %s"):format(path, tostring(number), why))
end

local warned = {}

local function warn_once(text)
  if not warned[text] then check.warn(text) end
  warned[text] = true
end

---Leaves out the damaged rows of a table with a warning: for this connection, a view of the intact rows replaces the
---table. Returns true, or false (and does nothing) for the table of studies, which cannot be replaced.
---@param each mr.sweep.store.Check  of the table
---@param wrong any[][]              columns that the statement `each.find` returned, with one row
---@return boolean
function M.leave_out(database, path, each, wrong)
  if each.table == "studies" then return false end
  local why = ("its column %s. Rows of the table '%s' that are left out: %d"):format(wrong[1][1], each.table,
    wrong[3][1])
  warn_once(damage_text(path, wrong[2][1], why))
  database:run(("CREATE TEMP VIEW %s AS SELECT * FROM main.%s WHERE %s IS NULL"):format(each.table, each.table,
    each.bad), {}, 0)
  return true
end

-- Returns the text of an error about a trial whose parameters are not valid JSON.
local function params_text(path, study, number, why)
  local text = damage_text(path, number, "its parameters: the text " .. check.reason(why))
  return ("%s (study '%s')"):format(text, core.safe_text(study.name))
end

---Warns, once per text, that a trial is left out because its parameters in the store cannot be read.
---@param why string  error of the JSON reader
function M.warn(path, study, number, why) warn_once(params_text(path, study, number, why) .. ". It is left out") end

---Raises an error about a trial whose parameters in the store cannot be read.
---@param why string  error of the JSON reader
function M.refuse(path, study, number, why)
  check.fail("%s. Restore the store from a copy, or begin a study with another name",
    params_text(path, study, number, why))
end

return M
