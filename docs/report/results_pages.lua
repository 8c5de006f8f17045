-- Makes Markdown pages from results files (results_file.lua): a page for each document with all its tables.
local mr = require "moonrank"
local check = require "moonrank.check"
local core = require "moonrank.core"
local wrap = require "moonrank.help.wrap"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local results_file, documents = dofile(here .. "results_file.lua"), dofile(here .. "documents.lua")
local reading = dofile(here .. "reading.lua")

local M = {}

local most_decimals <const> = 4

-- Returns the number of decimals with which a column shows its numbers: as many as one of them needs, but at most four.
local function decimals_of(values)
  local most = 0
  for _, value in ipairs(values) do
    local text = results_file.written(value)
    most = math.max(most, text:find "e" and most_decimals or #(text:match "%.(%d*)$" or ""))
  end
  return math.min(most, most_decimals)
end

-- Returns a number as text with the decimals of its column. Smaller numbers have two significant digits.
local function number_text(value, decimals)
  if math.type(value) ~= "float" or not check.is_finite(value) then return results_file.written(value) end
  local is_small = value ~= 0 and math.abs(value) < 0.5 * 10 ^ -decimals
  return is_small and ("%.2g"):format(value) or ("%%.%df"):format(decimals):format(value)
end

-- Returns the columns of cells in order: a column that the first rows lack stands after the one before it in its row.
-- Each column is a table of its name and its numbers.
local function columns_of(cells)
  local columns, of, before = {}, {}, nil
  for i, cell in ipairs(cells) do
    if i > 1 and cell.row ~= cells[i - 1].row then before = nil end
    local column = of[cell.column]
    if not column then
      column = { name = cell.column, values = {} }
      local at = #columns + 1
      for c, other in ipairs(columns) do
        if other == before then at = c + 1 end
      end
      table.insert(columns, at, column)
      of[cell.column] = column
    end
    for _, value in ipairs{ cell.value, cell.low, cell.high } do
      if type(value) == "number" and check.is_finite(value) then table.insert(column.values, value) end
    end
    before = column
  end
  return columns
end

-- Returns a cell's value as text, with its interval in brackets.
local function shown(cell, decimals)
  if type(cell.value) ~= "number" then return cell.value end
  local ends = cell.low ~= "" and (" (%s to %s)"):format(number_text(cell.low, decimals),
    number_text(cell.high, decimals)) or ""
  return number_text(cell.value, decimals) .. ends
end

-- Returns the cells of one table, as read from a results file, as a Markdown table.
local function as_table(cells)
  local names, rows, at, of, decimals = { "" }, {}, {}, {}, {}
  for c, column in ipairs(columns_of(cells)) do
    names[c + 1], at[column.name], decimals[column.name] = column.name, c + 1, decimals_of(column.values)
  end
  for _, cell in ipairs(cells) do
    if not of[cell.row] then
      rows[#rows + 1] = { cell.row }
      of[cell.row] = rows[#rows]
    end
    of[cell.row][at[cell.column]] = shown(cell, decimals[cell.column])
  end
  return mr.table{ columns = names, rows = rows }:to_markdown()
end

-- Returns, as text, what the values of a file's cells were computed with: "numerics version 2026-11e, data fingerprint
-- 0123456789abcdef, 2026-11-25".
local function origin(cells)
  local cell, numerics, parts = cells[1], results_file.numerics(cells), {}
  if numerics ~= "" then
    local versions, spaces = numerics:gsub(" ", ", ")
    parts[#parts + 1] = ("numerics version%s %s"):format(spaces > 0 and "s" or "", versions)
  end
  if cell.data ~= "" then parts[#parts + 1] = "data fingerprint " .. cell.data end
  parts[#parts + 1] = cell.date ~= "" and cell.date or nil
  return table.concat(parts, ", ")
end

---Wraps text into lines of at most 100 columns. Later lines of a list item ("- ...") hang by two blanks.
---@param text string
---@return string
function M.wrapped(text) return wrap.text((text:gsub("%s+", " ")), 100) end

-- Returns one table of a page in Markdown, with its caption, how its confidence intervals were computed, the number of
-- training runs behind its values, and the meaning of its columns.
local function page_table(cells, legend)
  local parts, by, runs = {}, table.concat(results_file.intervals(cells), "; "), results_file.behind(cells)
  if cells[1].table ~= "" then parts[1] = cells[1].table .. ":\n" end
  if by ~= "" then parts[#parts + 1] = ("Intervals: %s.\n"):format(by) end
  if runs then parts[#parts + 1] = ("Training runs behind a number: %s.\n"):format(runs) end
  if legend and legend ~= "" then
    local meanings = reading.meanings(legend)
    for i, meaning in ipairs(meanings) do meanings[i] = M.wrapped("- " .. meaning) end
    parts[#parts + 1] = table.concat(meanings, "\n") .. "\n"
  end
  parts[#parts + 1] = as_table(cells)
  return table.concat(parts, "\n")
end

---Returns a section of a Markdown page: the tables of one results file, with the command that made
---them.
---@param path string  path of the results file, relative to the page
---@param cells table<string, any>[]  cells that results_file.read returned
---@param legends string[]  texts that results_file.read_legends returned
---@return string
function M.page_section(path, cells, legends)
  local head = "## %s\n\n- Made by `%s`\n- From %s\n- File: [%s](%s)\n"
  local parts, of_table = { head:format(cells[1].section, cells[1].command, origin(cells), path, path) }, {}
  for i, cell in ipairs(cells) do
    of_table[#of_table + 1] = cell
    local next_cell = cells[i + 1]
    if not next_cell or next_cell.table ~= cell.table then
      parts[#parts + 1], of_table = page_table(of_table, legends[#parts]), {}
    end
  end
  return table.concat(parts, "\n")
end

local head = [[
# %s

`moonrank scripts/all.lua --results docs/results` makes this page and the CSV files in `%s/`, of
which it has the tables. Every table says which command made it, under which numerics version and
from which data. `moonrank docs/report/one_file.lua docs/results`, followed by such a command
without `moonrank`, makes one file and the page.
]]

-- Returns the anchor that GitHub gives to a heading.
local function anchor_of(title) return (title:lower():gsub("[^%w%s_-]", ""):gsub(" ", "-")) end

---Returns a Markdown page with all results files of a document (paper), or nil if there are no files.
---@param folder string    folder that has one folder of CSV files per document
---@param document string  short name, such as "thesis"
---@return string?
function M.page(folder, document)
  local own, parts, contents = folder .. "/" .. document, {}, { [0] = "| section | script |\n| --- | --- |\n" }
  for i, file in ipairs(results_file.files(folder, document)) do
    local path = own .. "/" .. file
    local cells = results_file.read(path)
    contents[i] = ("| [%s](#%s) | `%s` |\n"):format(cells[1].section, anchor_of(cells[1].section),
      cells[1].command:match "%S+%.lua" or cells[1].command)
    parts[i] = M.page_section(document .. "/" .. file, cells, results_file.read_legends(path))
  end
  if #parts == 0 then return nil end
  return table.concat({ head:format(documents.title_of(document), document), table.concat(contents, "", 0),
    table.concat(parts, "\n") }, "\n")
end

---Writes a Markdown page for each document (paper) that has results files.
---@param folder string  folder that has one folder of CSV files per document; the pages are written here
function M.write_pages(folder)
  for _, document in ipairs(documents.names) do
    local page = M.page(folder, document)
    if page then core.write_file(("%s/%s.md"):format(folder, document), page) end
  end
end

return M
