-- Fuzzes a store of results (SQLite file): writes one with changed fields, and reads it in every way.
local core = require "moonrank.core"
local mr = require "moonrank"
local stores = require "moonrank.sweep.store"
local results = require "moonrank.results"

local M = {}

-- SQL statements that add a study with one trial in each state.
local rows = {
  [[INSERT INTO studies (id, name, space, sampler, seed, direction, metric, script, script_name, settings, data,
    planned, version, created)
    VALUES (1, 's', 'x', 'grid', 1, 'maximize', 'ndcg', 'h', 'a.lua', '{}', 'd', 4, '1', '2026-01-01')]],
  [[INSERT INTO trials (id, study, number, state, seed, params, value, wall, numerics) VALUES
    (1, 1, 1, 'done', 1, '{"fold":1,"lr":0.5}', 0.25, 1.5, 'n'),
    (2, 1, 2, 'done', 2, '{"fold":2,"lr":0.5}', 0.5, 1, 'n'),
    (5, 1, 5, 'done', 1, '{"fold":1,"lr":1}', 0.5, 2, 'n'), (6, 1, 6, 'done', 2, '{"fold":2,"lr":1}', 0.125, 2, 'n')]],
  [[INSERT INTO trials (id, study, number, state, seed, params, reason) VALUES
    (3, 1, 3, 'failed', 1, '{"fold":1}', 'x:1: oops'),
    (4, 1, 4, 'killed', 1, '{"fold":2}', 'signal 9')]],
  [[INSERT INTO numbers (trial, name, value) VALUES (1, 'valid_ndcg', 0.5), (2, 'valid_ndcg', 0.75), (2, 'epochs', 3)]],
  [[INSERT INTO reports (trial, name, step, value) VALUES
    (1, 'ndcg', 1, 0.1), (1, 'ndcg', 2, 0.2), (2, 'ndcg', 1, NULL)]],
  [[INSERT INTO lists (trial, name, scores) VALUES (1, 'ndcg', x'000000000000f03f0000000000000040'),
    (2, 'ndcg', x'000000000000f03f0000000000000840')]],
  [[INSERT INTO data (trial, role, fingerprint, what) VALUES (1, 'train', 'ab12', 'queries'),
    (2, 'train', 'ab12', 'queries')]],
}

-- The fields that a fuzz input may change. All others keep their values.
local fields = {
  studies = { "name", "space", "sampler", "seed", "direction", "metric", "script", "script_name", "settings", "data",
    "planned", "forced", "version", "created" },
  trials = { "number", "state", "attempts", "seed", "params", "value", "reason", "traceback", "wall", "memory",
    "device", "version", "data", "started", "ended", "noted", "numerics", "study" },
  numbers = { "name", "value", "trial" }, reports = { "name", "step", "value", "trial" },
  lists = { "name", "scores", "trial" }, data = { "role", "fingerprint", "what", "trial" },
}
local known = {}
for name, columns in pairs(fields) do
  for _, column in ipairs(columns) do known[name .. "." .. column] = { name, column } end
end

-- SQL statements for changes of the store other than those of single fields, by number.
local others = { "PRAGMA user_version = 9", "PRAGMA user_version = 1", "PRAGMA application_id = 7",
  "CREATE TABLE more (x)", "DROP TABLE data", "CREATE VIEW seen AS SELECT * FROM trials", "DELETE FROM trials",
  "DELETE FROM studies", "CREATE INDEX more ON trials (value)" }

-- Parses a value of the fuzz input for an SQL statement; its first letter is the type: n(ull), z (true), i(nteger),
-- r(eal), t(ext), b(lob).
local function value_of(kind, text)
  if kind == "i" then return math.tointeger(tonumber(text)) end
  if kind == "r" then return (tonumber(text) or 0) + 0.0 end
  if kind == "z" then return true end
  return (kind == "t" or kind == "b") and text or nil
end

local image  -- bytes of a store file without changes

local function make_image(path)
  local memory = core.open_database("", "memory")
  for _, version in ipairs(stores.versions) do
    for _, statement in ipairs(version) do memory:run(statement, {}, 0) end
  end
  memory:run(("PRAGMA user_version = %d"):format(#stores.versions), {}, 0)
  for _, statement in ipairs(rows) do memory:run(statement, {}, 0) end
  os.remove(path)
  memory:run("VACUUM INTO ?", { path }, 1)
  memory:close()
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

-- Makes the change that a line of the fuzz input describes. A change that breaks a constraint of the table is ignored.
local function change(database, line)
  local name, row, kind, text = line:match "^(%l+%.[%l_]+) (%d) ([nzirtb])(.*)$"
  local field, other = known[name], others[tonumber(line:match "^do (%d)$")]
  if other then pcall(database.run, database, other, {}, 0) end
  if not field then return end
  local key = (field[1] == "studies" or field[1] == "trials") and "id" or "trial"
  pcall(database.run, database, ("UPDATE OR IGNORE %s SET %s = %s WHERE %s = %s"):format(field[1], field[2],
    kind == "b" and "CAST(?1 AS BLOB)" or "?1", key, row), { value_of(kind, text) }, 1)
end

---A store as a file. Each line of the text changes a field of a row, 'trials.params 2 t{"lr":1}', or something else,
---"do 1".
---@param path string
---@param text string
function M.write(path, text)
  image = image or make_image(path)
  -- the file is replaced, not overwritten, because an open reader still uses the previous one
  for _, ending in ipairs{ "", "-wal", "-shm" } do os.remove(path .. ending) end
  local file = assert(io.open(path, "wb"))
  assert(file:write(image))
  file:close()
  if text == "" then return end
  local database <close> = core.open_database(path, "write")
  database:run("BEGIN", {}, 0)
  for line in text:gmatch "[^\n]+" do change(database, line) end
  database:run("COMMIT", {}, 0)
end

-- Reads everything that a continued sweep reads from a store.
local function read_trials(store, study)
  store:trials(study)
  store:data(study)
  store:numerics(study)
  store:reports(study, study.metric or "value")
end

-- Returns functions that print or export results in each of their formats.
local function forms(found)
  return {
    function() tostring(found:trials()) end,
    function() tostring(found:trials{ where = { fold = 1, lr = { 0.5, 1 } } }) end,
    function() found:best("name that no trial has") end,
    function() found:to_json() end,
    function() tostring(found:best("lr", { value = "valid_ndcg" })) end,
    function() tostring(found:best(nil, { over = "fold" })) end,
    function() tostring(found:pivot{ rows = "fold", columns = "lr" }) end,
    function() tostring(found:compare{ by = "fold" }) end,
    function() found:per_list(1, "ndcg") end,
    function() found:reports(1) end,
    function() found:data(1) end,
    function() tostring(found) end,
    function() read_trials(found._store, found.study) end,
    function() found._store:close() end,
  }
end

-- Returns true if one line of the text is exactly this word.
local function says(text, word) return ("\n" .. text .. "\n"):find("\n" .. word .. "\n", 1, true) end

---Functions that read a store: results and sweeps share one opening, which takes most of the time.
---Functions that open the store themselves are added if the text asks for them.
---@param path string
---@param text string  that M.write got
---@return function[]
function M.readers(path, text)
  local readers = {}
  if says(text, "print") then table.insert(readers, function() results.text(path) end) end
  if says(text, "write") then table.insert(readers, function() stores.open(path, "write"):close() end) end
  local ok, found = pcall(mr.results, path)
  table.insert(readers, function() assert(ok, found) end)
  if ok then table.move(forms(found), 1, 20, #readers + 1, readers) end
  return readers
end

return M
