-- Documents the database in which sweeps are stored (SQLite). The SQL tables and columns are defined in sweep/schema;
-- this file describes their meaning.
local core = require "moonrank.core"
local store = require "moonrank.sweep.store"

local M = {}

local floats = "IEEE 754 double precision, little-endian, 8 bytes each, without header or padding"

-- Descriptions of the SQL tables in a sweep store, and of their columns.
M.tables = {
  { name = "studies", text = "One row per study. A store may hold several; their names differ.", columns = {
    id = "number to which `trials.study` refers",
    name = "the name given to `mr.sweep`",
    space = "the parameters, one per line: `lr = loguniform(0.001, 0.1; points 3)`",
    sampler = "how combinations are chosen (`grid`, `random`, `sobol`, `tpe`, with options), and the pruner",
    seed = "the study's seed, from which each trial's seed follows",
    direction = "`maximize` or `minimize`",
    metric = "name of the number that the study optimises; NULL if a trial returns one number only",
    script = "functions, values and modules of the trials, one per line with a digest (`rule 3: tokens` in the first "
      .. "line). A study does not continue with other code. If the first line is missing, an earlier version wrote "
      .. "it, and the study continues only with `force = true`",
    script_name = "name of the script without its folder",
    settings = "the `settings` of `mr.sweep`, one per line",
    data = "checksums of files and data fingerprints of the option `data` of `mr.sweep`, one per line; empty without "
      .. "this option",
    planned = "number of trials of the study, if it is known",
    forced = "what had changed when the study was continued with `force = true`, as a sum: 1 space, 2 script, 4 "
      .. "settings, 8 data, 16 sampler, 32 seed, 64 direction, 128 metric, 256 form of the recorded code; 0 if "
      .. "nothing had changed. Earlier versions wrote only 1 (space changed) or 0",
    version = "version of Moonrank when the study was made or last changed",
    created = "time in UTC, `YYYY-MM-DD HH:MM:SS`" } },
  { name = "trials", text = "One row per trial that has begun.", columns = {
    id = "number to which the other tables refer",
    study = "`studies.id` of the trial's study",
    number = "number of the trial within the study, from 1",
    state = "`running`, `done`, `pruned`, `failed` (an error, or a result that is not a number), `killed` (the "
      .. "process ended) or `interrupted`",
    attempts = "how often the trial was started",
    seed = "seed of the trial: `trial.seed`",
    params = "parameters of the trial as a JSON object",
    value = "the number that the study optimises (`studies.metric`); NULL if the trial returned none",
    reason = "why the trial failed, was killed or was pruned",
    traceback = "traceback of an error in the trial's function",
    wall = "seconds that the last attempt took",
    memory = "largest memory of the trial's process during the last attempt, in bytes",
    device = "device of the trial: `cpu`, or the name of the GPU",
    version = "version of Moonrank that ran the trial",
    data = "`studies.data` when the trial ran",
    started = "time in UTC at which the last attempt began",
    ended = "time in UTC at which the trial ended; NULL while it runs",
    noted = "1 if the table `data` lists the data that the trial used",
    numerics = "numerics version of the trial (`moonrank --version`); NULL in stores of versions that did not record "
      .. "it",
    conventions = "gain, ties, empty lists, cutoff and other conventions of each metric, as a JSON object. Entries "
      .. "`new to training: ` and a number's name count users, items or queries that are not in the training data. "
      .. "NULL if the trial's function returned plain numbers" } },
  { name = "numbers", text = "All numbers that a trial returned. Names of metrics on validation begin with `valid_`.",
    columns = {
    trial = "`trials.id` of the trial",
    name = "name of the number: `ndcg@10`, `valid_ndcg@10`, `best_epoch`, or a name from the trial's function",
    value = "the number; NULL stands for NaN, which SQLite cannot store" } },
  { name = "reports", text = "Numbers that a trial reported while it ran. Pruners read them.", columns = {
    trial = "`trials.id` of the trial",
    name = "name of the number: `loss`, `valid_loss`, `valid_ndcg`, or a name given to `trial:report`",
    step = "the epoch, or the step given to `trial:report`",
    value = "the number; NULL stands for NaN" } },
  { name = "lists", text = "Values of metrics per test list, for paired tests. No other table has blobs.", columns = {
    trial = "`trials.id` of the trial",
    name = "name of the metric; `list` for the number of each list's user or query",
    scores = "one number per test list in the order of the lists, " .. floats .. "; a blob has 8 bytes per list" } },
  { name = "data", text = "Data that a trial used, by data fingerprints.", columns = {
    trial = "`trials.id` of the trial",
    role = "`train`, `valid`, `test` or `other`",
    fingerprint = "data fingerprint: 16 hexadecimal digits",
    what = "description for people: `80 lists, 3408 rows`" } },
}

---Returns the columns of every SQL table in a sweep store of the newest version, by the name of the table.
---@return table<string, { name: string, type: string, required: boolean }[]>
---Example: `require "moonrank.manual.schema".columns().lists[3].type   --> BLOB`
function M.columns()
  local memory = core.open_database("", "memory")
  for _, statements in ipairs(store.versions) do
    for _, statement in ipairs(statements) do memory:run(statement, {}, 0) end
  end
  local found = {}
  local _, tables, count = memory:run("SELECT name FROM sqlite_master WHERE type = 'table'", {}, 0)
  for t = 1, count do
    local _, columns, n = memory:run([[SELECT name, type, "notnull" FROM pragma_table_info(?1)]], { tables[1][t] }, 1)
    local list = {}
    for c = 1, n do list[c] = { name = columns[1][c], type = columns[2][c], required = columns[3][c] == 1 } end
    found[tables[1][t]] = list
  end
  memory:close()
  return found
end

---Returns the documentation of the SQL tables in a sweep store as Markdown.
---Example: `require "moonrank.manual.schema".text():match "## [^\n]*"   --> ## Tables of the store`
function M.text()
  local columns, lines = M.columns(), { "## Tables of the store\n", (([[
The schema has version %d, which is `PRAGMA user_version`. Stores of older versions lack newer tables and columns. A
sweep adds them when it next writes to the store.]]):format(#store.versions)) }
  for _, each in ipairs(M.tables) do
    lines[#lines + 1] = ("\n### %s\n\n%s\n"):format(each.name, each.text)
    for _, column in ipairs(columns[each.name]) do
      lines[#lines + 1] = ("- `%s` %s%s: %s"):format(column.name, column.type,
        column.required and "" or ", may be NULL", each.columns[column.name])
    end
  end
  return table.concat(lines, "\n")
end

return M
