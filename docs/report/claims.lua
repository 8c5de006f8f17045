-- Makes the page docs/results/README.md, the statements on results and a table of results files, from these files.
-- docs/results/claims.lua has the sentences. Run this in the root of the checkout to renew the page:
-- moonrank -e 'dofile("docs/report/claims.lua").renew()'
local core = require "moonrank.core"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local results_file, documents = dofile(here .. "results_file.lua"), dofile(here .. "documents.lua")
local pages = dofile(here .. "results_pages.lua")

local M = {}

---Counts the significant changes of several comparisons: those whose p-value is below 0.05.
---@param changes number[]
---@param ps number[]
---@return integer better  significant and positive
---@return integer worse   significant and negative
---@return integer of      number of comparisons
function M.significant(changes, ps)
  local better, worse = 0, 0
  for i, p in ipairs(ps) do
    if p < 0.05 and changes[i] > 0 then better = better + 1 end
    if p < 0.05 and changes[i] < 0 then worse = worse + 1 end
  end
  return better, worse, #ps
end

-- Returns the object `t` with which a claim (a sentence on results) reads its results file: the CSV file `path` with
-- these `cells`. `t(row, column, table)` is the value of one cell, and `t.interval(row, column, table)` are the ends
-- of its interval. `t.all(pattern, column, table)` has the values and names of all rows whose name matches a Lua
-- pattern. `table` is a table's caption, which may be left out if row and column are unique.
-- `t.joined{rows = patterns, tables = captions, change = column, p = column}` has the changes and the p-values of all
-- rows that match one of the patterns, table by table. `t.significant` is M.significant.
-- `t.numerics` is the numerics version of the file, or several.
function M.reader(path, cells)
  local t = { numerics = results_file.numerics(cells), significant = M.significant }
  local function is_in(cell, name) return not name or cell.table == name end
  function t.all(pattern, column, table_name)
    local values, names, seen = {}, {}, {}
    for _, cell in ipairs(cells) do
      local is_it = cell.column == column and cell.row:find(pattern) and is_in(cell, table_name)
      local key = cell.table .. "\0" .. cell.row
      if is_it then
        if seen[key] then error(("%s has row %s, column %s twice"):format(path, cell.row, column), 0) end
        values[#values + 1], names[#names + 1], seen[key] = cell.value, cell.row, true
      end
    end
    if #values == 0 then
      error(("%s has no cell in column %s whose row matches %s"):format(path, column, pattern), 0)
    end
    return values, names
  end
  function t.joined(o)
    local changes, ps = {}, {}
    for _, table_name in ipairs(o.tables or { false }) do
      for _, pattern in ipairs(o.rows or { "" }) do
        local change, p = o.change or "change", o.p or "p, Holm"
        local own, rows = t.all(pattern, change, table_name)
        local of_own, rows_of_p = t.all(pattern, p, table_name)
        for i = 1, math.max(#rows, #rows_of_p) do
          if rows[i] ~= rows_of_p[i] then
            error(("%s: row %s lacks a cell in column %s or %s"):format(path, rows[i] or rows_of_p[i], change, p), 0)
          end
        end
        table.move(own, 1, #own, #changes + 1, changes)
        table.move(of_own, 1, #of_own, #ps + 1, ps)
      end
    end
    return changes, ps
  end
  function t.interval(row, column, table_name)
    for _, cell in ipairs(cells) do
      if cell.row == row and cell.column == column and is_in(cell, table_name) and cell.low ~= "" then
        return cell.low, cell.high
      end
    end
    error(("%s has no cell with an interval in row %s and column %s"):format(path, row, column), 0)
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

---A sentence on results, whose numbers are read from a results file. It stands on the page README.md, or in the notes
---on a document.
---@class Claim
---@field document? string  short name of the paper, e.g. "thesis"; nil in notes
---@field notes? string    short name of the paper whose notes have the sentence
---@field file string      results file that has the claim's numbers, relative to the folder of results
---@field text fun(t: table, must: function): string  the sentence
---@field first? any[]     first cell of the results file, with command, numerics version and date; nil without a file
---@field said? string     the finished sentence; nil without a results file

---Reads claims.lua, the sentences on results, or notes/claims.lua, those of the notes. Fills in the
---numbers of every sentence whose results file exists. Returns all claims; `said` is nil in those
---without a results file.
---@param folder string  folder of the results files
---@param file? string   file of the sentences (default: claims.lua)
---@return Claim[]
function M.read(folder, file)
  local claims = dofile(("%s/%s"):format(folder, file or "claims.lua"))
  for _, claim in ipairs(claims) do
    local path = folder .. "/" .. claim.file
    if core.file_exists(path) then
      local cells = results_file.read(path)
      local ok, said = pcall(claim.text, M.reader(path, cells), must)
      if not ok then
        local reason = core.error_text(said):gsub("\n.*", "")
        error(reason:find(path, 1, true) and reason
          or ("%s: a statement of %s cannot be made from this file: %s"):format(path, file or "claims.lua", reason), 0)
      end
      claim.first, claim.said = cells[1], said:gsub("%s+", " ")
    end
  end
  return claims
end

-- Returns the statements of one document: a heading with links to its tables and notes, and a list of those claims
-- that have a results file.
local function section(claims, folder, name)
  local links, lines = {}, {}
  for _, page in ipairs{ { "tables", name .. ".md" }, { "notes", ("notes/%s.md"):format(name) } } do
    if core.file_exists(folder .. "/" .. page[2]) then links[#links + 1] = ("[%s](%s)"):format(page[1], page[2]) end
  end
  for _, claim in ipairs(claims) do
    if claim.document == name and claim.said then
      lines[#lines + 1] = pages.wrapped(("- %s ([file](%s))"):format(claim.said, claim.file))
    end
  end
  if #links == 0 and #lines == 0 then return "" end
  return ("## %s\n\nPages: %s\n\n%s\n\n"):format(
    documents.title_of(name), #links > 0 and table.concat(links, ", ") or "none", table.concat(lines, "\n"))
end

local head = [[
# Results

Each script makes a table or figure of one of six documents, or of the grid of all losses under all
bounds. A test compares each statement below with the file that it is made from. The end of this
page lists results files that are still to be made.

- Most models are trained with one seed. Tests and intervals over users or queries take the trained
  models as given.
- Epochs and learning rates are chosen on validation, unless a statement says otherwise.
- A change is significant where p < 0.05 by a permutation test, paired by user or query, after
  Holm's correction over its table or column.
- Most numbers are of one numerics version. [What numerics versions differ in](notes/numerics.md).

`moonrank scripts/all.lua --results docs/results` makes the files, the pages and this page.
`moonrank scripts/thesis/all.lua` makes all tables and figures of the thesis and one report of them.
The sentences are in `claims.lua`, those of the notes in `notes/claims.lua`.

%s## What a file says beside a value

- `low` and `high` are the ends of an interval of 95 %%, and `interval` says what it is by. Student's
  t over folds, seeds or both takes these runs as independent of each other, though folds share
  training data, and the data set as given.
- `runs` is the number of training runs whose results are in the value. Runs that choose a rate or
  another setting do not count. A change is made from two sets of runs. Printed numbers, and those
  that need no training, have 0. It is empty where the script does not say.
- A cell that is empty in the table has no line: the standard deviation of one run, a change of the
  row that others are compared with, a number that the paper does not print.
- `data` is the fingerprint of the test data, and of all data where a study has none under that
  name.
- The text file beside a CSV file has a line for each of its tables, which says what the columns
  are.

No interval is given for:

- the grid, whose cells have the mean change and its significance alone;
- printed numbers and differences from them in the thesis, counts, settings, epochs and rates;
- p-values, effect sizes, shares of wins, correlations, standard deviations, quantiles and the
  largest of several values;
- closed forms, worked numbers and shapes of lists, which have no distribution (thesis `figure_1_1`,
  `figure_3_*`, `tables_2`, `tables_3`, lecture `same_*` and `worked_numbers`, sigir21 `table_1`);
- validation means by model size (thesis `sizes_*`) and curves of nDCG taken apart
  (`why_curves_differ`): their scripts do not compute one;
- one run without values of lists: training and validation curves of faces (cmu `figure_4`,
  `figure_5`), the columns "by labels" and "R^2" of cmu `table_2` and `table_3`;
- times and memory (objectives `blanks`), which are measured once.

## Files

The table has the command of each file. `scripts/all.lua` makes most of them in one run; the
others take longer, or more training runs. `moonrank docs/report/one_file.lua docs/results`,
followed by a command of the table without `moonrank`, makes one file.

| file | command | numerics version, date | cells | with an interval | intervals by | runs behind a value |
|---|---|---|---|---|---|---|
%s
## Statements that wait for their file

The command makes the file. Other sections of `scripts/all.lua` without a file, such as recipes of
sigir21 that train for hours, have no statement.

%s
]]

-- Returns lines of a Markdown table with one row per results file (CSV): its command, numerics version and date, how
-- many of its cells have a confidence interval, how intervals were computed, and how many training runs are behind a
-- value.
local function lines_on_files(folder)
  local lines = {}
  for _, name in ipairs(documents.names) do
    for _, file in ipairs(results_file.files(folder, name)) do
      local path = name .. "/" .. file
      local cells, count = results_file.read(folder .. "/" .. path), 0
      for _, cell in ipairs(cells) do count = count + (cell.low ~= "" and 1 or 0) end
      local first = cells[1]
      lines[#lines + 1] = ("| [%s](%s) | `%s` | %s, %s | %d | %d | %s | %s |\n"):format(path, path, first.command,
        results_file.numerics(cells), first.date, #cells, count, table.concat(results_file.intervals(cells), "; "),
        results_file.behind(cells) or first.runs == "" and "not said" or "none")
    end
  end
  return table.concat(lines)
end

-- Returns a line for each results file that claims need and that is not there, with the command that makes it.
local function waiting(claims)
  local lines, seen = {}, {}
  for _, claim in ipairs(claims) do
    if not claim.first and not seen[claim.file] then
      seen[claim.file] = true
      lines[#lines + 1] = ("- `%s`: `moonrank scripts/all.lua --documents %s --results docs/results`\n"):format(
        claim.file, claim.document)
    end
  end
  return #lines > 0 and table.concat(lines) or "None.\n"
end

---Returns the page docs/results/README.md in Markdown, with all claims (sentences on results) and the
---files behind them.
---@param claims Claim[]  as from M.read
---@param folder string   folder of the results files
---@return string
function M.page(claims, folder)
  local parts = {}
  for i, name in ipairs(documents.names) do parts[i] = section(claims, folder, name) end
  return head:format(table.concat(parts), lines_on_files(folder), waiting(claims))
end

---Writes README.md in the folder of results again, from the results files (CSV) in that folder. Does
---nothing if the folder has no claims.lua.
---@param folder? string  folder of the results files, from the root of the checkout (default: docs/results)
function M.renew(folder)
  folder = folder or "docs/results"
  if not core.file_exists(folder .. "/claims.lua") then return end
  core.write_file(folder .. "/README.md", M.page(M.read(folder), folder))
end

return M
