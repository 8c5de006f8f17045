-- Writes and reads results files: the tables of a script as a CSV file with one line for each cell. A text file beside
-- it explains the columns of the tables, with one line for each table. results_pages.lua makes pages from both. A line
-- of the CSV file has the title of the script's section in the report, the table's caption, the names of the cell's row
-- and column, and its value. A cell that is empty or NaN, such as the standard deviation of one run, has no line. `low`
-- and `high` are the ends of a confidence interval, if the script computes one, and `interval` says how it was computed
-- (95 %, unless stated otherwise). `runs` is the number of training runs behind the value, or "" if the script does not
-- say. `numerics`, `data` and `date` are the numerics version, the data fingerprint and the day of the last run.
-- `command` made the table.
local mr = require "moonrank"
local core = require "moonrank.core"
local text_of_csv = require("moonrank.table").text_of_csv

local M = {}

M.columns = { "section", "table", "row", "column", "value", "low", "high", "interval", "runs", "numerics", "data",
  "date", "command" }

local number = "([-+]?[%d.]+)"
local with_ends, with_change = "^" .. number .. " %(" .. number .. " to " .. number .. "%)$",
  "^" .. number .. " %(([-+][%d.]+)%)$"

-- Splits the text of a table's cell into its value and, if the text has them, the ends of an interval ("0.88 (0.87
-- to 0.89)") or a change in brackets ("0.88 (-0.01)"). Text that is a number becomes a number.
local function parts_of(cell)
  if type(cell) ~= "string" then return { value = cell } end
  local value, low, high = cell:match(with_ends)
  if value then return { value = tonumber(value), low = tonumber(low), high = tonumber(high) } end
  local alone, change = cell:match(with_change)
  return { value = tonumber(alone or cell) or cell, change = tonumber(change) }
end

---Returns a value as text. Numbers get six significant digits, which is more than any printed table has.
---@param value any
---@return string
function M.written(value)
  if math.type(value) == "float" then return ("%.6g"):format(value) end
  return tostring(value)
end

-- Returns the name of a table's row: the values of its first `keys` columns. A number is preceded by its column's
-- name: "NSR 1".
local function row_name(columns, row, keys)
  local parts = {}
  for c = 1, keys do
    local part = row[c] ~= nil and M.written(row[c]) or nil
    parts[#parts + 1] = type(row[c]) == "number" and columns[c] .. " " .. part or part
  end
  return table.concat(parts, "; ")
end

---Names all rows of a table by the values of their first columns. As few columns are used as suffice to
---distinguish the rows. Rows whose names are still equal are numbered. Also returns the number of columns
---used.
---@param one mr.Table
---@return string[]
---@return integer
function M.row_names(one)
  local best, most, names = 1, 0, {}
  for keys = 1, math.max(1, #one.columns - 1) do
    local seen, count = {}, 0
    for _, row in ipairs(one.rows) do
      local name = row_name(one.columns, row, keys)
      count, seen[name] = count + (seen[name] and 0 or 1), true
    end
    if count > most then best, most = keys, count end
  end
  local times = {}
  for r, row in ipairs(one.rows) do
    local name = row_name(one.columns, row, best)
    times[name] = (times[name] or 0) + 1
    names[r] = times[name] > 1 and ("%s (%d)"):format(name, times[name]) or name
  end
  return names, best
end

-- Combines several data fingerprints (checksums of data sets) into one. Returns "" if there are none.
local function digest(fingerprints)
  if #fingerprints <= 1 then return fingerprints[1] or "" end
  table.sort(fingerprints)
  return core.sha256(table.concat(fingerprints, "\n")):sub(1, 16)
end

-- SQL that selects the data fingerprints (checksums) of a study's test data, or of all its data if none has the role
-- "test". A study is a set of stored training runs.
local read_by = [[
WITH own AS (SELECT DISTINCT d.role, d.fingerprint FROM data d JOIN trials t ON t.id = d.trial WHERE t.study = ?1)
SELECT DISTINCT fingerprint AS data FROM own WHERE role = 'test' OR NOT EXISTS (SELECT 1 FROM own WHERE role = 'test')]]
local ended = [[SELECT count(*) AS n, max(date(ended)) AS day FROM trials WHERE study = ?1 AND state = 'done']]

-- Returns studies (sets of stored training runs) without duplicates. A script may have read the same study several
-- times.
local function distinct(studies)
  local found, seen = {}, {}
  for _, results in ipairs(studies) do
    local key = ("%s %d"):format(results._store.path, results.study.id)
    if not seen[key] then found[#found + 1] = results end
    seen[key] = true
  end
  return found
end

-- Returns where the results of studies (sets of stored training runs) come from: number of finished runs, numerics
-- versions, data fingerprints, and the day of the last run.
local function provenance(studies)
  local runs, date, numerics, data = 0, "", {}, {}
  local function add(list, value)
    if value and not list[value] then list[#list + 1], list[value] = value, true end
  end
  for _, results in ipairs(distinct(studies)) do
    local store, id = results._store, results.study.id
    for _, each in ipairs(store:numerics(results.study)) do add(numerics, each.numerics) end
    for _, each in ipairs(store:rows(read_by, id)) do add(data, each.data) end
    local last = store:rows(ended, id)[1]
    runs = runs + last.n
    if (last.day or "") > date then date = last.day end
  end
  return { runs = runs, numerics = table.concat(numerics, " "), data = data, date = date }
end

-- Returns the numbers of a table's columns named "low" and "high" if both directly follow column number `c`: they
-- have the ends of this column's interval. Returns nothing otherwise.
local function ends_after(columns, c)
  if columns[c + 1] == "low" and columns[c + 2] == "high" then return c + 1, c + 2 end
end

-- Returns what a script states for a cell, such as its number of training runs: `what` itself, or the result of
-- what(row, column) if `what` is a function.
local function said_of(what, row, column)
  if type(what) == "function" then return what(row, column) end
  return what
end

-- Returns the number of training runs behind a cell: what the script states, else 0 if the script trains nothing,
-- else "" (unknown).
local function runs_behind(from, cells, row, column)
  local runs = said_of(cells.runs, row, column)
  if runs == "all" then runs = from.runs end
  return runs or from.runs == 0 and 0 or ""
end

---Returns the lines of a results file (CSV), made from the tables of a report's section, one line
---per cell. A line has a value for each column in M.columns. Table columns `low` and `high` become
---the interval of the column before them. If there are several tables, a table without a caption is
---called by its first column.
---@param section report.Section  as sections.run returns; `cells` has intervals and numbers of runs
---@return any[][]
function M.lines(section)
  local from, lines = section.studies and #section.studies > 0 and provenance(section.studies) or section.used, {}
  local data, tables = digest(from.data), section.tables or {}
  for t, one in ipairs(tables) do
    local names, keys = M.row_names(one)
    local caption = section.captions and section.captions[t] or ""
    if caption == "" and #tables > 1 then caption = one.columns[1] end
    local about = section.cells and section.cells[t] or {}
    local intervals = about.intervals or {}
    local function add(r, column, value, low, high)
      local by = low and said_of(about.by, one.rows[r], column) or ""
      lines[#lines + 1] = { section.title, caption, names[r], column, M.written(value), low and M.written(low) or "",
        high and M.written(high) or "", by, runs_behind(from, about, one.rows[r], column),
        said_of(about.numerics, one.rows[r], column) or from.numerics, data, from.date, section.made_by }
    end
    for r, row in ipairs(one.rows) do
      local c = keys + 1
      while c <= #one.columns do
        local column, first, last = one.columns[c], ends_after(one.columns, c)
        local ends = first and { row[first], row[last] } or (intervals[column] or {})[r] or {}
        if row[c] ~= nil and row[c] ~= "" and row[c] == row[c] then
          local cell = parts_of(row[c])
          add(r, column, cell.value, cell.low or ends[1], cell.high or ends[2])
          if cell.change then add(r, column .. ", change", cell.change) end
        end
        c = (last or c) + 1
      end
    end
  end
  return lines
end

---Writes a results file (CSV) from lines that `M.lines` returned.
---@param path string
---@param lines any[][]
function M.write(path, lines)
  core.make_folder(path)
  core.write_file(path, mr.table{ columns = M.columns, rows = lines }:to_csv())
end

-- Returns the path of the text file beside a results file.
local function legends_path(path) return (path:gsub("%.csv$", ".txt")) end

---Writes the text file that explains the columns of a section's tables.
---@param path string  path of the results file
---@param section report.Section
function M.write_legends(path, section)
  local legends = {}
  for t, one in ipairs(section.tables) do
    local legend = section.legends and section.legends[t] or ""
    if #one.rows > 0 then legends[#legends + 1] = legend:gsub("%s+", " ") .. "\n" end
  end
  core.write_file(legends_path(path), table.concat(legends))
end

---Writes the results files (CSV) of documents (papers): FOLDER/DOCUMENT/SECTION.csv for each section of
---the report that has a table. If a section failed or lacks training runs, or its runs were continued
---with --force after a change, its file is not changed.
---@param folder string
---@param made { name: string, sections: report.Section[] }[]  documents
---@return integer  number of files written
---@return string[]  titles of sections that were refused because of --force
function M.write_all(folder, made)
  local count, refused = 0, {}
  for _, document in ipairs(made) do
    for _, section in ipairs(document.sections) do
      local is_whole = section.file and not section.lacking and not section.failed and #(section.tables or {}) > 0
      if is_whole and section.forced then
        refused[#refused + 1] = section.title
      elseif is_whole then
        local path = ("%s/%s/%s.csv"):format(folder, document.name, section.file)
        M.write(path, M.lines(section))
        M.write_legends(path, section)
        count = count + 1
      end
    end
  end
  return count, refused
end

---Returns lines of a results file, as from M.lines, as one table per cell with the file's columns as keys.
---Numeric text becomes numbers.
---@param lines any[][]
---@return table<string, any>[]
function M.cells(lines)
  local cells = {}
  for i, line in ipairs(lines) do
    local cell = {}
    for c, name in ipairs(M.columns) do cell[name] = line[c] end
    for _, name in ipairs{ "value", "low", "high", "runs" } do cell[name] = tonumber(cell[name]) or cell[name] end
    cells[i] = cell
  end
  return cells
end

local anew <const> = "Restore the file, or make it anew with scripts/all.lua --results"

-- Raises an error unless the header of a results file names the columns in their order.
local function check_header(path, header, lines)
  if not header then
    error(("%s: the file is empty, expected a header and a line per cell. %s"):format(path, anew), 0)
  end
  for c = 1, math.max(#M.columns, #header) do
    if header[c] ~= M.columns[c] then
      error(("%s:1: column %d is '%s', expected '%s'. %s"):format(path, c, core.safe_text(header[c] or ""),
        M.columns[c] or "the end of the line", anew), 0)
    end
  end
  if lines == 1 then
    error(("%s: the file has only its header, expected a line per cell. %s"):format(path, anew), 0)
  end
end

-- Returns what is wrong with a cell by itself; nil if nothing is.
local function against_cell(cell)
  local value, low, high = cell.value, cell.low, cell.high
  for _, name in ipairs{ "value", "low", "high" } do
    local word = tostring(cell[name]):lower()
    if word:find "^[-+]?nan$" or word:find "^[-+]?inf" then
      return ("%s is %s, expected a finite number"):format(name, word)
    end
  end
  if value == "" then return "the value is empty" end
  if cell.runs ~= "" and math.type(cell.runs) ~= "integer" then
    return ("runs is '%s', expected an integer"):format(core.safe_text(tostring(cell.runs)))
  end
  local is_p = cell.column == "p" or cell.column:find "^p, "
  if is_p and type(value) == "number" and (value < 0 or value > 1) then
    return ("the p-value is %s, expected a number from 0 to 1"):format(M.written(value))
  end
  if low == "" and high == "" then return nil end
  for _, name in ipairs{ "value", "low", "high" } do
    if type(cell[name]) ~= "number" then
      return ("%s is '%s', expected a number, because the cell has an interval"):format(name,
        core.safe_text(cell[name]))
    end
  end
  if low > value or value > high then
    return ("low is %s, value %s and high %s, expected them in this order"):format(M.written(low), M.written(value),
      M.written(high))
  end
end

-- Raises an error if a cell of a results file is not what M.write writes: a value that is not finite, an interval that
-- does not contain its value, a word in a column of numbers, or a cell that the file has twice. `lines` has the cells'
-- line numbers.
local function check_cells(path, cells, lines)
  local seen, of_column = {}, {}
  for _, cell in ipairs(cells) do
    local column = table.concat({ cell.section, cell.table, cell.column }, "\0")
    of_column[column] = of_column[column] or type(cell.value) == "number"
  end
  for i, cell in ipairs(cells) do
    local function refuse(problem)
      error(("%s:%d: row '%s', column '%s': %s. %s"):format(path, lines[i + 1], core.safe_text(cell.row),
        core.safe_text(cell.column), problem, anew), 0)
    end
    local column = table.concat({ cell.section, cell.table, cell.column }, "\0")
    local problem, key = against_cell(cell), column .. "\0" .. cell.row
    if problem then refuse(problem) end
    if seen[key] then refuse(("the file has this cell twice, first in line %d"):format(seen[key])) end
    -- a text such as "0.5 +0.1*" may stand among numbers
    if of_column[column] and type(cell.value) == "string" and not cell.value:find "^[-+]?%d" then
      refuse(("the value is '%s', expected a number as in other rows"):format(core.safe_text(cell.value)))
    end
    seen[key] = lines[i + 1]
  end
end

---Reads a results file (CSV, one line per cell of a table). Returns one table per cell, in the file's
---order, with the file's columns as keys. Numeric text becomes numbers. A file that `M.write` cannot
---have written is an error, which names the file, the line and what was found.
---@param path string
---@return table<string, any>[]
function M.read(path)
  local read, lines = core.read_csv(path, ",")
  check_header(path, read[1], #read)
  table.remove(read, 1)
  for _, each in ipairs(read) do
    for c in ipairs(M.columns) do each[c] = text_of_csv(each[c]) end
  end
  local cells = M.cells(read)
  check_cells(path, cells, lines)
  return cells
end

---Reads the text file that explains the columns: one text for each table of the results file, "" for none.
---@param path string  path of the results file
---@return string[]
function M.read_legends(path)
  local legends = {}
  if core.file_exists(legends_path(path)) then
    for line in io.lines(legends_path(path)) do legends[#legends + 1] = line end
  end
  return legends
end

---Returns how many training runs are behind the values of cells, as text: "5 or 10", "1 to 30". Returns
---nil if the values need no training, or if the results file does not say.
---@param cells table<string, any>[]  as from M.read
---@return string?
function M.behind(cells)
  local found, seen = {}, {}
  for _, cell in ipairs(cells) do
    local runs = cell.runs
    if runs ~= "" and runs ~= 0 and not seen[runs] then found[#found + 1], seen[runs] = runs, true end
  end
  table.sort(found)
  if #found > 2 then return ("%d to %d"):format(found[1], found[#found]) end
  return found[1] and table.concat(found, " or ")
end

---Returns the numerics versions under which cells were computed, sorted: "2026-11d 2026-11f".
---@param cells table<string, any>[]  as from M.read
---@return string
function M.numerics(cells)
  local found, seen = {}, {}
  for _, cell in ipairs(cells) do
    for version in cell.numerics:gmatch "%S+" do
      if not seen[version] then found[#found + 1], seen[version] = version, true end
    end
  end
  table.sort(found)
  return table.concat(found, " ")
end

---Returns how the confidence intervals of cells were computed, such as "bootstrap over users", without
---duplicates.
---@param cells table<string, any>[]  as from M.read
---@return string[]
function M.intervals(cells)
  local found, seen = {}, {}
  for _, cell in ipairs(cells) do
    local by = cell.interval
    if by ~= "" and not seen[by] then found[#found + 1], seen[by] = by, true end
  end
  return found
end

---Returns the file names of a document's (paper's) results files, sorted by name and number.
---@param folder string    folder that has one folder of CSV files per document
---@param document string  short name, such as "thesis"
---@return string[]
function M.files(folder, document)
  local own, found = folder .. "/" .. document, {}
  for _, file in ipairs(core.file_exists(own) and core.list_folder(own) or {}) do
    found[#found + 1] = file:match "^.*%.csv$"
  end
  local function key(file) return (file:gsub("%d+", function(digits) return ("%06d"):format(digits) end)) end
  table.sort(found, function(a, b) return key(a) < key(b) end)
  return found
end

return M
