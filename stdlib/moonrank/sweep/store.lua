-- Reads and writes the store of sweeps: one SQLite file with studies and their trials. One process writes to a study,
-- and other processes may read at the same time. In all methods, `study` is a study's row in the store.
local core = require "moonrank.core"
local check = require "moonrank.check"
local damage = require "moonrank.sweep.damage"
local frame = require "moonrank.sweep.frame"
local schema = require "moonrank.sweep.schema"

local M = { versions = schema.versions }

---The most bytes of a field, below the limit of SQLite because a row also has other fields.
M.longest = (256 << 20) - 4096

---@class mr.sweep.Store
---@field path string
---@field leaves_out boolean  whether damaged rows are left out
local Store = {}
Store.__index = Store

-- Runs an SQL statement with the further arguments as its parameters. Returns its result as columns by name.
function Store:columns(sql, ...)
  local names, columns = self._database:run(sql, { ... }, select("#", ...))
  local out = {}
  for i, name in ipairs(names) do out[name] = columns[i] end
  return out
end

-- Runs an SQL statement and returns its result as a list of rows: tables by column name. A NULL is nil in the table.
function Store:rows(sql, ...)
  local names, columns, count = self._database:run(sql, { ... }, select("#", ...))
  local rows = {}
  for r = 1, count do
    rows[r] = {}
    for c, name in ipairs(names) do rows[r][name] = columns[c][r] end
  end
  return rows
end

---Calls `f` with the further arguments in a transaction of the store, and returns its first result. If `f` raises an
---error, everything that `f` wrote is rolled back and the error is raised again. A transaction within `f` becomes part
---of this one.
function Store:transaction(f, ...)
  if self._in_transaction then return (f(...)) end
  self._database:run("BEGIN IMMEDIATE", {}, 0)
  self._in_transaction = true
  local ok, result = pcall(f, ...)
  self._in_transaction = false
  if ok then ok, result = pcall(self._database.run, self._database, "COMMIT", {}, 0) end
  if not ok then
    pcall(self._database.run, self._database, "ROLLBACK", {}, 0)
    error(result, 0)
  end
  return result
end

-- Opens a store's database if this program can read or write it. Returns also whether damaged rows are left out.
local function opened(path, mode, only_reads, is_checked)
  local ok, database = check.attempt(core.open_database, path, mode)
  if not ok then check.fail("%s", database:sub(database:find(path, 1, true) or 1)) end
  local good, why, leaves_out = pcall(schema.objection, database, path, only_reads, is_checked)
  if good and not why then
    if mode == "claim" then good, why = pcall(database.write_ahead, database) end
    if good then return database, leaves_out end
  end
  -- An open transaction blocks other processes, so the database is closed now, not by the garbage collector.
  database:close()
  if not good then error(why, 0) end
  check.fail("%s %s", path, why)
end

---Writes the store's current contents to the file `path`, completely or not at all. An existing file is replaced. Other
---processes may write to the store at the same time.
---@param part? string  name of the file until it is whole (default: made from `path`)
function Store:copy(path, part)
  core.make_folder(path)
  part = part or ("%s.part-%s"):format(path, core.sha256(("%.17g %s"):format(core.clock(), path)):sub(1, 8))
  local ok, message = pcall(self._database.run, self._database, "VACUUM INTO ?1", { part }, 1)
  local kept, why = ok and os.rename(part, path), message
  if kept then return end
  os.remove(part)
  if why == "interrupted" then error(why, 0) end
  check.fail("%s cannot be written: %s", path, tostring(why))
end

-- Largest share of its time that a writer may spend on making copies of the store for readers.
local share = 0.05

---Makes a copy of the store for readers, if they cannot read the store itself because it is open for exclusive writing
---(runtime/io/sqlite/sqlite.h). A copy is made only outside of transactions, only if the store changed since the last
---copy, and only as often as its cost allows. A copy that cannot be written is not an error, because readers are told
---how old their copy is.
function Store:publish()
  local copies = self._copies
  if not copies or self._in_transaction then return end
  local began = core.clock()
  copies.credit = math.min(copies.credit + share * (began - copies.at), 2 * copies.last)
  copies.at = began
  if copies.credit < copies.last then return end
  local changes = self:columns("SELECT total_changes() AS n").n[1]
  if changes == copies.changes then return end
  -- removes incomplete copies of the store that a writer left behind when it was killed
  for _, ending in ipairs{ "", "-journal", ".lock" } do os.remove(copies.path .. ".part" .. ending) end
  if check.attempt(self.copy, self, copies.path, copies.path .. ".part") then copies.changes = changes end
  local now = core.clock()
  copies.last, copies.credit, copies.at = now - began, copies.credit - (now - began), now
end

---Returns a text that says that a copy is read instead of the store, and why; nil if the store itself is read.
function Store:note() return self._database:note() end

function Store:close() self._database:close() end
Store.__close = Store.close

---Raises an error if the file `path` is not a store, has damaged rows, or is a store of a newer moonrank. A missing
---file is accepted. A file without tables is accepted, too, because a process that was killed may have created it. A
---store that a writer has opened exclusively is not checked.
function M.look(path)
  core.check_file(path)
  -- A store that a writer has open exclusively is checked later, when the sweep opens it.
  if core.is_file(path) and not M.is_exclusive(path) then opened(path, "read"):close() end
end

---Returns true if a writer has opened the store exclusively, or was killed while it had the store open exclusively.
function M.is_exclusive(path) return core.file_exists(core.followed(path) .. ".writer") end

---Opens a store. Opening for writing creates a missing store, and updates a store of an older version. A store of a
---newer version is an error. A file with other tables than those of a store is an error, too, and is not changed.
---@param mode "read"|"write"
---@param is_checked? boolean  reads without the check for damaged rows, which takes time for each row of the store
function M.open(path, mode, is_checked)
  if mode == "write" then
    core.make_folder(path)
    M.look(path)  -- opening the file for writing changes it, so it is checked first
  end
  local database, leaves_out = opened(path, mode == "write" and "claim" or mode, mode == "read", is_checked)
  local store = setmetatable({ path = path, leaves_out = leaves_out, _database = database, _copies = false,
    _in_transaction = false,
    -- set of the ids of trials for which the tables of results have no rows, because this store began them first
    _without_results = {}, _last_result = false }, Store)
  if mode == "write" then
    if database:exclusive() then
      store._copies = {
        path = core.followed(path) .. ".view",
        credit = 0.0,
        last = 0.0,
        at = core.clock(),
        changes = -1,
      }
    end
    local good, message = pcall(schema.migrate, store)
    local has_studies = good and store._copies and store:columns("SELECT count(*) AS n FROM studies").n[1] > 0
    if has_studies then good, message = pcall(store.publish, store) end
    if good then return store end
    store:close()
    error(message, 0)
  end
  local version = schema.version_of(database)
  if version == 0 then
    check.fail("%s is a store of version %d, expected %d. Run a sweep on it to update it", path, version, #M.versions)
  end
  return store
end

---Returns the row of the study with this name; nil if the store has no such study.
function Store:study(name) return self:rows("SELECT * FROM studies WHERE name = ?1", name)[1] end

local study_fields = { "name", "space", "sampler", "seed", "direction", "metric", "script", "script_name",
  "settings", "data", "planned", "version" }

---Adds a study to the store, or updates the fields of a study with the same name. Returns the study's row.
---@param fields table<string, any>  values by column name, such as `space`; `name` is required
---@return table
function Store:set_study(fields)
  local values, marks, sets = {}, {}, {}
  for i, field in ipairs(study_fields) do
    values[i], marks[i], sets[i] = fields[field], "?" .. i, field .. " = ?" .. i
  end
  local sql
  if self:study(fields.name) then
    sql = ("UPDATE studies SET %s WHERE name = ?1"):format(table.concat(sets, ", "))
  else
    sql = ("INSERT INTO studies (%s, created) VALUES (%s, datetime('now'))"):format(table.concat(study_fields, ", "),
      table.concat(marks, ", "))
  end
  self:columns(sql, table.unpack(values, 1, #study_fields))
  return self:study(fields.name)
end

---Returns a copy of a study's row with new values of the fields that `set_study` writes.
---@param fields table<string, any>  values by column name
function Store:with(study, fields)  -- luacheck: ignore 212/self
  local row = {}
  for name, value in pairs(study) do row[name] = value end
  for _, name in ipairs(study_fields) do row[name] = fields[name] end
  return row
end

---Writes one field of a study's row to the store.
---@param study table  the study's row, with the new value
---@param field "forced"|"script"|"planned"|"metric"|"direction"
function Store:set(study, field)
  self:columns(("UPDATE studies SET %s = ?2 WHERE id = ?1"):format(field), study.id, study[field])
end

---Returns the trials of a study by their number: the trial's row, with the decoded parameters in
---`params` and their JSON in `params_text`. Parameters that cannot be decoded are an error.
---@param number? integer  only the trial with this number
---@return table<integer, table>
function Store:trials(study, number)
  local trials = {}
  local rows = number and self:rows("SELECT * FROM trials WHERE study = ?1 AND number = ?2", study.id, number)
    or self:rows("SELECT * FROM trials WHERE study = ?1 ORDER BY number", study.id)
  for _, row in ipairs(rows) do
    local ok, params = check.attempt(frame.from_json, row.params)
    if not ok then damage.refuse(self.path, study, row.number, params) end
    row.params_text, row.params = row.params, params
    trials[row.number] = row
  end
  return trials
end

-- Raises an error if the store's file was removed or replaced, because results written to it would be lost.
local function need_file(self)
  if self._database:moved() then
    check.fail("%s was removed, renamed or replaced while the sweep ran, so its results would be lost", self.path)
  end
end

-- Returns the largest id of a trial that has rows in the tables of results. They may have rows of trials that were
-- removed from the table of trials.
local function last_result(self)
  local last = 0
  for _, name in ipairs{ "numbers", "lists", "data", "reports" } do
    last = math.max(last, self:columns(("SELECT ifnull(max(trial), 0) AS id FROM %s"):format(name)).id[1])
  end
  return last
end

---Records that a trial begins, with the numerics version, and sets `trial.id`, the trial's id in the store. It is an
---error if the store was removed or replaced.
---@param trial { number: integer, seed: integer, params_text: string }
function Store:begin(study, trial)
  if not self._in_transaction then need_file(self) end  -- in a transaction, the end of another trial has done this
  self:columns([[INSERT INTO trials (study, number, state, seed, params, numerics, started)
    VALUES (?1, ?2, 'running', ?3, ?4, ?5, datetime('now')) ON CONFLICT (study, number) DO NOTHING]],
    study.id, trial.number, trial.seed, trial.params_text, core.numerics())
  if self._database:changed() == 1 then
    trial.id = self._database:last_id()
    self._last_result = self._last_result or last_result(self)
    self._without_results[trial.id] = trial.id > self._last_result or nil
  else
    trial.id = self:columns("SELECT id FROM trials WHERE study = ?1 AND number = ?2", study.id, trial.number).id[1]
    self:columns([[UPDATE trials SET state = 'running', numerics = ?2, started = datetime('now'), ended = NULL
      WHERE id = ?1]], trial.id, core.numerics())
  end
  self:publish()
end

local parts = {
  numbers = "INSERT INTO numbers (trial, name, value) VALUES (?1, ?2, ?3)",
  lists = "INSERT INTO lists (trial, name, scores) VALUES (?1, ?2, CAST(?3 AS BLOB))",
}

---Adds reports of a trial. A report of the same step and name is replaced.
---@param id integer  of the trial
---@param reports { step: integer, values: table<string, number> }[]
function Store:add_reports(id, reports)
  self._without_results[id] = nil
  for _, report in ipairs(reports) do
    for name, value in pairs(report.values) do
      self:columns("INSERT OR REPLACE INTO reports (trial, name, step, value) VALUES (?1, ?2, ?3, ?4)", id, name,
        report.step, value)
    end
  end
end

-- Removes what an earlier attempt of a trial stored in the tables of results, reports only if `with_reports`.
local function remove_results(self, id, with_reports)
  if self._without_results[id] then return end
  for _, name in ipairs{ "numbers", "lists", "data", with_reports and "reports" or nil } do
    self:columns(("DELETE FROM %s WHERE trial = ?1"):format(name), id)
  end
end

local function write_outcome(self, study, trial, outcome, add)
  local id = trial.id
  self:columns([[UPDATE trials SET state = ?2, attempts = ?3, value = ?4, reason = ?5, traceback = ?6, wall = ?7,
    memory = ?8, device = ?9, version = ?10, data = ?11, noted = ?12, numerics = ifnull(?13, numerics),
    conventions = ?14, ended = datetime('now') WHERE id = ?1]],
    id, outcome.state, trial.attempts, outcome.value, outcome.reason, outcome.traceback, outcome.wall, outcome.memory,
    outcome.device, core.version(), study.data, outcome.data and 1 or 0, outcome.numerics, outcome.conventions)
  remove_results(self, id, not add)
  for name, insert in pairs(parts) do
    for key, value in pairs(outcome[name] or {}) do self:columns(insert, id, key, value) end
  end
  for _, each in ipairs(outcome.data or {}) do
    self:columns("INSERT INTO data (trial, role, fingerprint, what) VALUES (?1, ?2, ?3, ?4)", id, each.role,
      each.fingerprint, each.what)
  end
  self:add_reports(id, outcome.reports or {})
end

---Stores how a trial ended, in one transaction. What an earlier attempt of the trial stored is replaced. If the trial
---was paused before (`add`), its new reports are added to the earlier reports.
---@param trial table    that `begin` got, with its number of attempts
---@param outcome table  state, value, numbers, lists, reports, time and data
---@param add boolean
function Store:finish(study, trial, outcome, add)
  need_file(self)
  self:transaction(write_outcome, self, study, trial, outcome, add)
  self:publish()
end

---Records in the store that a paused trial is pruned: its last reported value and the reason.
---@param trial { number: integer, value: number, reason: string }
function Store:prune(study, trial)
  self:columns("UPDATE trials SET state = 'pruned', value = ?3, reason = ?4 WHERE study = ?1 AND number = ?2", study.id,
    trial.number, trial.value, trial.reason)
end

local roles = { train = true, valid = true, test = true, other = true }

-- Converts a row of the table `data` to an entry. Texts are checked and shortened: a store can come from anywhere.
local function entry_of(row)
  local sum, what = tostring(row.fingerprint), tostring(row.what)
  return { role = roles[row.role] and row.role or "other",
    fingerprint = sum:find "^%x+$" and sum:sub(1, 16) or "unknown", what = what:sub(1, 60):gsub("[^%g ]", "?") .. "" }
end

---Returns the data sets that trials used, by the trial's number: of all finished and pruned trials, or only of the
---trial `number` if it is given. `noted` is false if the data of a trial was not recorded.
---@return table<integer, { noted: boolean, entries: mr.data.Entry[] }>
function Store:data(study, number)
  local by_number = {}
  if schema.version_of(self._database) < 2 then return by_number end
  for _, row in ipairs(self:rows([[SELECT t.number, t.noted, d.role, d.fingerprint, d.what
      FROM trials t LEFT JOIN data d ON d.trial = t.id
      WHERE t.study = ?1 AND (t.number = ?2 OR ?2 IS NULL AND t.state IN ('done', 'pruned'))
      ORDER BY t.number, d.role, d.fingerprint]], study.id, number)) do
    by_number[row.number] = by_number[row.number] or { noted = row.noted == 1, entries = {} }
    if row.role then table.insert(by_number[row.number].entries, entry_of(row)) end
  end
  return by_number
end

---Returns the conventions of trials' metrics (gain, ties, ...), if recorded, by the trial's number: JSON with a text
---per metric.
---@return table<integer, string>
function Store:conventions(study)
  local by_number = {}
  if schema.version_of(self._database) < 4 then return by_number end
  local sql = "SELECT number, conventions FROM trials WHERE study = ?1 AND conventions IS NOT NULL"
  for _, row in ipairs(self:rows(sql, study.id)) do by_number[row.number] = row.conventions end
  return by_number
end

---Returns the numerics version under which each trial of a study began, by the trial's number. A trial without a
---recorded version has no entry. Returns nil if all trials have the same version, or if the store records no versions.
---@return table<integer, string>?
function Store:numerics_of(study)
  if schema.version_of(self._database) < 3 then return nil end
  if #self:numerics(study) < 2 then return nil end
  local by_number, found = {}, self:columns("SELECT number, numerics FROM trials WHERE study = ?1", study.id)
  for i, number in ipairs(found.number) do by_number[number] = found.numerics[i] end
  return by_number
end

---Returns how many trials began under each numerics version (nil: not recorded), the most frequent first.
---@return { numerics: string?, trials: integer }[]
function Store:numerics(study)
  return self:rows([[SELECT numerics, count(*) AS trials FROM trials WHERE study = ?1 GROUP BY numerics
    ORDER BY trials DESC, numerics]], study.id)
end

---Returns the values of a metric that the trials of a study reported, by the trial's number: {{step =, value =}, ...}
---in the order of steps. Pruners need the values when a study is resumed.
---@return table<integer, { step: integer, value: number }[]>
function Store:reports(study, name)
  local by_number = {}
  for _, row in ipairs(self:rows([[SELECT t.number, r.step, r.value FROM reports r JOIN trials t ON t.id = r.trial
      WHERE t.study = ?1 AND r.name = ?2 ORDER BY t.number, r.step]], study.id, name)) do
    by_number[row.number] = by_number[row.number] or {}
    -- SQLite stores NaN as NULL, which is read back as NaN
    table.insert(by_number[row.number], { step = row.step, value = row.value or 0 / 0 })
  end
  return by_number
end

return M
