-- Makes the statements of results in README.md and the page docs/results/README.md from the results files.
-- docs/results/claims.lua has the sentences. Run this in the root of the checkout to renew both: moonrank -e
-- 'dofile("scripts/claims.lua").renew()'
local core = require "moonrank.core"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local results_file, documents = dofile(here .. "results_file.lua"), dofile(here .. "documents.lua")
local pages = dofile(here .. "results_pages.lua")

local M = {}

-- Returns the object `t` with which a claim (a sentence on results) reads its results file: the CSV file `path` with
-- these `cells`. `t(row, column, table)` is the value of one cell, and `t.interval(row, column, table)` are the ends
-- of its interval. `t.all(pattern, column, table)` has the values and names of all rows whose name matches a Lua
-- pattern. `table` is a table's caption, which may be left out if row and column are unique.
-- `t.numerics` is the numerics version of the file.
local function reader(path, cells)
  local t = { numerics = cells[1].numerics }
  local function is_in(cell, name) return not name or cell.table == name end
  function t.all(pattern, column, table_name)
    local values, names = {}, {}
    for _, cell in ipairs(cells) do
      local is_it = cell.column == column and cell.row:find(pattern) and is_in(cell, table_name)
      if is_it then values[#values + 1], names[#names + 1] = cell.value, cell.row end
    end
    if #values == 0 then
      error(("%s has no cell in column %s whose row matches %s"):format(path, column, pattern), 0)
    end
    return values, names
  end
  function t.interval(row, column, table_name)
    for _, cell in ipairs(cells) do
      if cell.row == row and cell.column == column and is_in(cell, table_name) then return cell.low, cell.high end
    end
    error(("%s has no cell in row %s and column %s"):format(path, row, column), 0)
  end
  local function one(_, row, column, table_name)
    local values = t.all("^" .. row:gsub("%W", "%%%0") .. "$", column, table_name)
    if #values > 1 then
      error(("%s has %d cells in row %s and column %s: name the table"):format(path, #values, row, column), 0)
    end
    return values[1]
  end
  return setmetatable(t, { __call = one })
end

-- Raises an error unless `is_so` is true. A claim (a sentence on results) calls it for conditions on which its words
-- depend, such as "A is better than B".
local function must(is_so, text)
  if not is_so then error(("docs/results/claims.lua: the results do not show this any more: %s"):format(text), 0) end
end

---A sentence on results for README.md, whose numbers are read from a results file.
---@class Claim
---@field document string  short name of the paper, e.g. "thesis"
---@field file string      results file that has the claim's numbers, relative to the folder of results
---@field text fun(t: table, must: function): string  the sentence
---@field first? any[]     first cell of the results file, with command, numerics version and date; nil without a file
---@field said? string     the finished sentence; nil without a results file

---Reads claims.lua, the sentences on results, and fills in the numbers of every sentence whose
---results file exists. Returns all claims; `said` is nil in those without a results file.
---@param folder string  folder of the results files
---@return Claim[]
function M.read(folder)
  local claims = dofile(folder .. "/claims.lua")
  for _, claim in ipairs(claims) do
    local path = folder .. "/" .. claim.file
    if core.file_exists(path) then
      local cells = results_file.read(path)
      claim.first, claim.said = cells[1], claim.text(reader(path, cells), must):gsub("%s+", " ")
    end
  end
  return claims
end

---Returns the statements for README.md in Markdown: for each document, a list of those claims
---(sentences on results) that have a results file. A document without such claims is left out.
---@param claims Claim[]  as from M.read
---@param folder string  folder of the results files, for links
---@return string
function M.statements(claims, folder)
  local parts = {}
  for _, name in ipairs(documents.names) do
    local lines = {}
    for _, claim in ipairs(claims) do
      if claim.document == name and claim.said then
        lines[#lines + 1] = pages.wrapped(("- %s ([file](%s/%s))"):format(claim.said, folder, claim.file), "  ")
      end
    end
    if #lines > 0 then
      local title = ("[%s](%s/%s.md):"):format(documents.title_of(name), folder, name)
      parts[#parts + 1] = title .. "\n\n" .. table.concat(lines, "\n") .. "\n"
    end
  end
  return table.concat(parts, "\n")
end

local start, stop = "<!-- From here on made by scripts/claims.lua -->\n",
  "<!-- Made by scripts/claims.lua up to here -->\n"

---Returns the text of README.md with new statements of results. They replace the part between two
---comments (`start` and `stop`) in the text; it is an error if a comment is missing.
---@param text string  old text of README.md
---@param statements string  from M.statements
---@return string
---@return string
function M.renewed(text, statements)
  local _, first = text:find(start, 1, true)
  local last = first and text:find(stop, first, true)
  if not last then error(("no lines %q and %q found in the text"):format(start, stop), 0) end
  return text:sub(1, first) .. "\n" .. statements .. "\n" .. text:sub(last)
end

local head = [[
# Results

`moonrank scripts/all.lua --results docs/results` makes the CSV files here, the pages that show them, this page, and the
statements of the project's README. Four files were made by the command in their last column instead: objectives
`seeds` and `seeds_mslr`, sigir21 `citeulike_published_listwise_rr` and grid `grid_mq2008`. The text beside a CSV file
has a line for each of its tables, which says what the columns are. The sentences are in `claims.lua`.
`tests/scripts/claims_spec.lua` compares them.
[What numerics versions differ in](notes/numerics.md).

%s
## Statements of the README, with the file and command behind each

| statement | file | command | numerics version, date |
|---|---|---|---|
%s
## Statements of speed and of equal bits

| statement | file | command | numerics version, date |
|---|---|---|---|
%s
The table of section Speed has no file yet. `./bootstrap bench --peers` takes hours on a machine that nothing else uses,
and writes `results/bench/bench.csv` and `bench.txt`. Copied to `docs/speed/` as `cpu.csv` and `cpu.txt`, they are what
`moonrank tests/bench/ratios.lua docs/speed/cpu.csv` makes the table from.

## What a file says beside a value

- `low` and `high` are the ends of an interval of 95 %%, and `interval` says what it is by. A bootstrap over users, queries or pairs
  takes the trained models as given. Student's t over folds, seeds or both takes these runs as independent of each other, though folds
  share training data, and the data set as given.
- `runs` is the number of training runs whose results are in the value. Runs that choose a rate or another setting do not count. A change
  is made from two sets of runs. Printed numbers, and those that need no training, have 0. It is empty where the script does not say.
- `data` is the fingerprint of the test data, and of all data where a study has none under that name.

No interval is given for:

- the grid, whose cells have the mean change and its significance alone, and whose `runs` is that of all cells;
- printed numbers and differences from them in the thesis, counts, settings, epochs and rates;
- p-values, effect sizes, shares of wins, correlations, standard deviations, quantiles and the largest of several values;
- closed forms, worked numbers and shapes of lists, which have no distribution (thesis `figure_1_1`, `figure_3_*`, `tables_2`,
  `tables_3`, lecture `same_*` and `worked_numbers`, sigir21 `table_1`);
- validation means by model size (thesis `sizes_*`) and curves of nDCG taken apart (`why_curves_differ`): their scripts do not compute one;
- one run without values of lists: training and validation curves of faces (cmu `figure_4`, `figure_5`), the columns "by labels" and
  "R^2" of cmu `table_2` and `table_3`;
- times and memory (objectives `blanks`), which are measured once.

| file | cells | with an interval | intervals by | training runs behind a value |
|---|---|---|---|---|
%s
## Statements that wait for their file

These are not in the README. The command makes the file.

%s
]]

-- Returns lines of a Markdown table with one row per results file (CSV): how many cells it has, how many of them
-- have a confidence interval, how intervals were computed, and how many training runs are behind a value.
local function lines_on_files(folder)
  local lines = {}
  for _, name in ipairs(documents.names) do
    for _, file in ipairs(results_file.files(folder, name)) do
      local path = name .. "/" .. file
      local cells, count = results_file.read(folder .. "/" .. path), 0
      for _, cell in ipairs(cells) do count = count + (cell.low ~= "" and 1 or 0) end
      lines[#lines + 1] = ("| [%s](%s) | %d | %d | %s | %s |\n"):format(path, path, #cells, count,
        table.concat(results_file.intervals(cells), "; "),
        results_file.behind(cells) or cells[1].runs == "" and "not said" or "none")
    end
  end
  return table.concat(lines)
end

---Returns the page docs/results/README.md in Markdown, with all claims (sentences on results) and the
---files behind them.
---@param claims Claim[]  as from M.read
---@param folder string   folder of the results files
---@return string
function M.page(claims, folder)
  local links_of, rows, waiting, seen = {}, {}, {}, {}
  for _, name in ipairs(documents.names) do
    local title, notes = documents.title_of(name), ("notes/%s.md"):format(name)
    local is_there = core.file_exists(("%s/%s.md"):format(folder, name))
    local links = { is_there and ("[tables](%s.md)"):format(name) or nil }
    links[#links + 1] = core.file_exists(folder .. "/" .. notes) and ("[notes](%s)"):format(notes) or nil
    if #links > 0 then links_of[#links_of + 1] = ("- %s: %s\n"):format(title, table.concat(links, ", ")) end
  end
  for _, claim in ipairs(claims) do
    local first = claim.first
    if first then
      rows[#rows + 1] = ("| %s | [%s](%s) | `%s` | %s, %s |\n"):format(claim.said, claim.file, claim.file,
        first.command, first.numerics, first.date)
    elseif not seen[claim.file] then
      seen[claim.file] = true
      waiting[#waiting + 1] = ("- `%s`: `moonrank scripts/all.lua --documents %s --results docs/results`\n"):format(
        claim.file, claim.document)
    end
  end
  local measured = {}
  for i, each in ipairs(claims.measured or {}) do
    measured[i] = ("| %s | `%s` | `%s` | %s |\n"):format(table.unpack(each))
  end
  return head:format(table.concat(links_of), table.concat(rows), table.concat(measured), lines_on_files(folder),
    #waiting > 0 and table.concat(waiting) or "None.\n")
end

---Writes README.md (its statements of results) and the README.md in the folder of results again,
---from the results files (CSV) in that folder.
---@param folder? string  folder of the results files, from the root of the checkout (default: docs/results)
function M.renew(folder)
  folder = folder or "docs/results"
  local claims, file <close> = M.read(folder), assert(io.open("README.md", "rb"))
  core.write_file("README.md", M.renewed(file:read "a", M.statements(claims, folder)))
  core.write_file(folder .. "/README.md", M.page(claims, folder))
end

return M
