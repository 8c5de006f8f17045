-- The versions of a store's database schema: how an older store is updated, and which databases are stores.
local core = require "moonrank.core"
local check = require "moonrank.check"
local damage = require "moonrank.sweep.damage"

local M = {}

-- SQL of the schema's versions. Entry i updates a store from version i - 1. Old entries never change.
M.versions = {
  {
    [[CREATE TABLE studies (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, space TEXT NOT NULL, sampler TEXT NOT NULL,
      seed INTEGER NOT NULL, direction TEXT NOT NULL, metric TEXT, script TEXT NOT NULL, script_name TEXT NOT NULL, settings TEXT NOT NULL,
      data TEXT NOT NULL, planned INTEGER, forced INTEGER NOT NULL DEFAULT 0, version TEXT NOT NULL, created TEXT NOT NULL)]],
    [[CREATE TABLE trials (id INTEGER PRIMARY KEY, study INTEGER NOT NULL REFERENCES studies(id), number INTEGER NOT NULL,
      state TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, seed INTEGER NOT NULL, params TEXT NOT NULL, value REAL, reason TEXT,
      traceback TEXT, wall REAL, memory INTEGER, device TEXT, version TEXT, data TEXT, started TEXT, ended TEXT, UNIQUE (study, number))]],
    [[CREATE TABLE numbers (trial INTEGER NOT NULL REFERENCES trials(id), name TEXT NOT NULL, value REAL,
      PRIMARY KEY (trial, name)) WITHOUT ROWID]],
    [[CREATE TABLE reports (trial INTEGER NOT NULL REFERENCES trials(id), name TEXT NOT NULL, step INTEGER NOT NULL, value REAL,
      PRIMARY KEY (trial, name, step)) WITHOUT ROWID]],
    [[CREATE TABLE lists (trial INTEGER NOT NULL REFERENCES trials(id), name TEXT NOT NULL, scores BLOB NOT NULL,
      PRIMARY KEY (trial, name)) WITHOUT ROWID]],
  },
  {  -- version 2: the data that trials used; not known for trials of older versions
    [[CREATE TABLE data (trial INTEGER NOT NULL REFERENCES trials(id), role TEXT NOT NULL, fingerprint TEXT NOT NULL, what TEXT NOT NULL,
      PRIMARY KEY (trial, role, fingerprint)) WITHOUT ROWID]],
    "ALTER TABLE trials ADD COLUMN noted INTEGER NOT NULL DEFAULT 0",
  },
  -- version 3 adds the numerics version under which a trial ran; NULL for older trials
  { "ALTER TABLE trials ADD COLUMN numerics TEXT" },
  -- version 4 adds the conventions of the metrics that a trial returned; NULL for older trials
  { "ALTER TABLE trials ADD COLUMN conventions TEXT" },
}

-- SQLite's application id of stores, "MRst". Stores of older versions have the id 0.
local application = 0x4D527374

local function pragma(database, name)
  local _, columns = database:run("PRAGMA " .. name, {}, 0)
  return columns[1][1]
end

---Returns the schema version of the store in a database; 0 if the database does not contain a store yet.
function M.version_of(database) return pragma(database, "user_version") end

---Updates a store's database to the last version of the schema, if it has an earlier one.
function M.migrate(store)
  for i = M.version_of(store._database) + 1, #M.versions do
    store:transaction(function()
      -- another process has made this update since the loop began
      if M.version_of(store._database) >= i then return end
      for _, statement in ipairs(M.versions[i]) do store._database:run(statement, {}, 0) end
      store._database:run(("PRAGMA application_id = %d"):format(application), {}, 0)
      store._database:run(("PRAGMA user_version = %d"):format(i), {}, 0)
    end)
  end
end

-- Returns the tables, indices, triggers and views of a database by name, without SQLite's internal objects.
local function schema_of(database)
  local _, columns, count = database:run([[SELECT name, type, sql FROM sqlite_master
    WHERE name NOT LIKE 'sqlite\_%' ESCAPE '\']], {}, 0)
  local schema = {}
  for i = 1, count do schema[columns[1][i]] = { type = columns[2][i], sql = columns[3][i] } end
  return schema
end

local made = {}  -- maps the statements of a version to what `expected_of` returned for it in an earlier call

-- Returns what a store of a version must contain: schema, names of objects, and checks for entries of wrong types.
local function expected_of(version)
  local key = M.versions[version] or M
  if made[key] then return made[key] end
  local memory, checks = core.open_database("", "memory"), {}
  for i = 1, version do
    for _, statement in ipairs(M.versions[i]) do memory:run(statement, {}, 0) end
  end
  local schema = schema_of(memory)
  local names = check.names(schema)
  for _, name in ipairs(names) do
    if schema[name].type == "table" then checks[#checks + 1] = damage.check_of(memory, name) end
  end
  memory:close()
  made[key] = { schema = schema, names = names, checks = checks }
  return made[key]
end

---Returns as text why this program must not read or write a database as a store, or nil if it may. Tables with damaged
---rows are an objection for a writer. A reader (`only_reads`) leaves damaged rows out, except those of studies, which
---are an objection, too. The schema is read in one transaction.
---@param only_reads boolean   whether the program only reads the store
---@param is_checked? boolean  whether the rows are known to be intact, so that they are not checked
---@return string? objection
---@return boolean? leaves_out  whether damaged rows are left out; nil with an objection
function M.objection(database, path, only_reads, is_checked)
  database:run("BEGIN", {}, 0)
  local version, id, found = M.version_of(database), pragma(database, "application_id"), schema_of(database)
  database:run("COMMIT", {}, 0)
  if id ~= 0 and id ~= application or version < 0 or version == 0 and next(found) then
    return "is an SQLite database, but not a store of results"
  end
  if version > #M.versions then
    return ("is a store of version %d, from a newer moonrank. This moonrank knows versions up to %d"):format(version,
      #M.versions)
  end
  local expected = expected_of(version)
  for name, object in pairs(found) do
    local like = expected.schema[name]
    if not like or like.type ~= object.type or like.sql ~= object.sql then
      local shown = name:sub(1, 40):gsub("[^%g ]", "?")
      return ("is not a store of results: its %s '%s' does not belong to a store"):format(object.type, shown)
    end
  end
  for _, name in ipairs(expected.names) do
    if not found[name] then return ("is not a store of results: it has no table '%s'"):format(name) end
  end
  local leaves_out = false
  for _, each in ipairs(is_checked and {} or expected.checks) do
    local _, wrong, count = database:run(each.find, {}, 0)
    leaves_out = leaves_out or count > 0
    if count > 0 and not (only_reads and damage.leave_out(database, path, each, wrong)) then
      local whose = wrong[2][1] and (" in a row of trial %s"):format(core.safe_text(tostring(wrong[2][1]))) or ""
      return ("is damaged: its column %s%s. Restore the store from a copy"):format(wrong[1][1], whose)
    end
  end
  return nil, leaves_out
end

return M
