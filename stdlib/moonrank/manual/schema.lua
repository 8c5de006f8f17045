-- The store of sweeps, table by table: columns and types from its own statements (sweep/schema), what they mean from here.
local core = require "moonrank.core"
local escape = require("moonrank.table").escape_html
local markup = require "moonrank.manual.markup"
local store = require "moonrank.sweep.store"

local M = {}

local floats = "IEEE 754 double precision, little-endian, 8 bytes each, nothing before, between or after them"

-- The tables of a store and the meaning of each of their columns.
M.tables = {
  { name = "studies", text = "One row per study. A store may hold several; their names differ.", columns = {
    id = "what `trials.study` refers to",
    name = "the name given to `mr.sweep`",
    space = "the parameters, a line each, as Lua would write them: `lr = loguniform(0.001, 0.1; points 3)`",
    sampler = "how combinations are chosen (`grid`, `random`, `sobol`, `tpe`, with options), and the pruner",
    seed = "the study's seed, from which each trial's seed follows",
    direction = "`maximize` or `minimize`",
    metric = "which number counts; NULL where a trial returns one number only",
    script = "functions, values and modules of the trials, a line each with a digest (`rule 3: tokens` in the first line): a store "
      .. "refuses to go on under other code. Without that line an earlier version recorded it, and it goes on only with `force = true`",
    script_name = "the script, without its folder",
    settings = "the `settings` of `mr.sweep`, a line each",
    data = "checksums of files and fingerprints of data given to `mr.sweep` as `data`, a line each; empty where none was given",
    planned = "how many trials there will be, where that is known",
    forced = "what had changed when the study went on by `force = true`, as a sum: 1 space, 2 script, 4 settings, 8 data, 16 sampler, "
      .. "32 seed, 64 direction, 128 metric, 256 form of the recorded code; 0 where nothing had. "
      .. "Earlier versions wrote 1 or 0, for the space",
    version = "of Moonrank, when the study was made or last changed",
    created = "UTC, `YYYY-MM-DD HH:MM:SS`" } },
  { name = "trials", text = "One row per trial that has begun.", columns = {
    id = "what the tables below refer to",
    study = "`studies.id`",
    number = "from 1, within the study",
    state = "`running`, `done`, `pruned`, `failed` (an error, or a result that is no number), `killed` (its process ended) or "
      .. "`interrupted`",
    attempts = "how often it ran",
    seed = "its own seed: `trial.seed`",
    params = "its parameters as a JSON object",
    value = "the number that counts (`studies.metric`); NULL where there is none",
    reason = "why it failed, was killed or pruned",
    traceback = "of an error in the trial's function",
    wall = "seconds that the last attempt took",
    memory = "the most bytes of memory that its process held during the last attempt",
    device = "where it ran: `cpu`, or the name of the GPU",
    version = "of Moonrank",
    data = "`studies.data` when it ran",
    started = "UTC, of the last attempt",
    ended = "UTC; NULL while it runs",
    noted = "1 where the table `data` has what the trial used",
    numerics = "the name of the numerics it ran under (`moonrank --version`); NULL in stores from before they had one",
    conventions = "gain, ties, empty lists, cutoff and so on of each metric, as a JSON object; under `new to training: ` and "
      .. "a number's name, how much of its lists training never saw. NULL where the trial's function returned plain numbers" } },
  { name = "numbers", text = "Every number that a trial returned: metrics on test by name, on validation with `valid_` before it.",
    columns = {
    trial = "`trials.id`",
    name = "`ndcg@10`, `valid_ndcg@10`, `best_epoch`, or whatever the trial's function called it",
    value = "NULL stands for NaN, which SQLite does not keep" } },
  { name = "reports", text = "What a trial reported on its way: learning curves, and what pruners looked at.", columns = {
    trial = "`trials.id`",
    name = "`loss`, `valid_loss`, `valid_ndcg`, ...; what `trial:report` was given",
    step = "the epoch, or the step that was given",
    value = "NULL stands for NaN" } },
  { name = "lists", text = "Scores of single test lists, for paired tests: the only blobs of the store.", columns = {
    trial = "`trials.id`",
    name = "the metric; `list` for the number of each list's user or query",
    scores = "one number per test list in the order of the lists, " .. floats .. "; so a blob has 8 times as many bytes as there are lists"
  } },
  { name = "data", text = "Which data a trial used, by fingerprints of their content.", columns = {
    trial = "`trials.id`",
    role = "`train`, `valid`, `test` or `other`",
    fingerprint = "16 hexadecimal digits",
    what = "a few words for people: `80 lists, 3408 rows`" } },
}

---Columns of every table of a store of the newest version: {name, type, notnull} in their order, by table.
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

---The tables as lines of text.
---@return string
---Example: `require "moonrank.manual.schema".text():match "## [^\n]*"   --> ## Tables of the store`
function M.text()
  local columns, lines = M.columns(), { ("## Tables of the store\n\nThe schema, version %d."):format(#store.versions) }
  for _, each in ipairs(M.tables) do
    lines[#lines + 1] = ("\n`%s`: %s\n"):format(each.name, each.text)
    for _, column in ipairs(columns[each.name]) do
      lines[#lines + 1] = ("- `%s` %s: %s"):format(column.name, column.type, each.columns[column.name])
    end
  end
  return table.concat(lines, "\n")
end

---The tables as HTML.
---@param links table<string, string>
---@return string
---@return mr.manual.Heading[]
function M.html(links)
  local columns, parts = M.columns(), {}
  local headings = { { level = 2, text = "Tables of the store", id = "store-tables" } }
  local version = "Version %d, which is `PRAGMA user_version`; stores of older versions lack what came later, and are brought up to date "
    .. "when a sweep next writes to them."
  parts[1] = '<h2 id="store-tables">Tables of the store</h2>\n' .. markup.paragraphs(version:format(#store.versions), links)
  for _, each in ipairs(M.tables) do
    local id = "table-" .. each.name
    headings[#headings + 1] = { level = 3, text = each.name, id = id }
    parts[#parts + 1] = ('<h3 id="%s">%s</h3>\n%s<div class="wide"><table>\n'):format(id, each.name, markup.paragraphs(each.text, links))
    for _, column in ipairs(columns[each.name]) do
      local row = '<tr id="%s.%s"><td><code>%s</code></td><td>%s%s</td><td>%s</td></tr>\n'
      parts[#parts + 1] = row:format(each.name, column.name, column.name, escape(column.type),
        column.required and "" or ", may be NULL", markup.inline(each.columns[column.name], links))
    end
    parts[#parts + 1] = "</table></div>\n"
  end
  return table.concat(parts), headings
end

return M
