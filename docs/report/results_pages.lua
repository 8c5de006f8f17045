-- Makes Markdown pages from results files (results_file.lua): a page for each document with all its tables.
local mr = require "moonrank"
local core = require "moonrank.core"
local wrap = require "moonrank.help.wrap"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local results_file, documents = dofile(here .. "results_file.lua"), dofile(here .. "documents.lua")
local reading = dofile(here .. "reading.lua")

local M = {}

-- Returns a number as Markdown pages show it: at most four decimals, or two significant digits for small numbers.
local function number_text(value)
  local text = results_file.written(value)
  if math.type(value) ~= "float" or not text:find "e" and #(text:match "%.(%d*)$" or "") <= 4 then return text end
  return (math.abs(value) < 0.001 and "%.2g" or "%.4f"):format(value)
end

local function shown(cell)
  if type(cell.value) ~= "number" then return cell.value end
  local ends = cell.low ~= "" and (" (%s to %s)"):format(number_text(cell.low), number_text(cell.high)) or ""
  return number_text(cell.value) .. ends
end

-- Returns the cells of one table, as read from a results file, as a Markdown table.
local function as_table(cells)
  local columns, rows, at, of = { "" }, {}, {}, {}
  for _, cell in ipairs(cells) do
    if not at[cell.column] then
      columns[#columns + 1] = cell.column
      at[cell.column] = #columns
    end
    if not of[cell.row] then
      rows[#rows + 1] = { cell.row }
      of[cell.row] = rows[#rows]
    end
    of[cell.row][at[cell.column]] = shown(cell)
  end
  return mr.table{ columns = columns, rows = rows }:to_markdown()
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
from which data.
]]

---Returns a Markdown page with all results files of a document (paper), or nil if there are no files.
---@param folder string    folder that has one folder of CSV files per document
---@param document string  short name, such as "thesis"
---@return string?
function M.page(folder, document)
  local own, parts = folder .. "/" .. document, { head:format(documents.title_of(document), document) }
  for _, file in ipairs(results_file.files(folder, document)) do
    local path = own .. "/" .. file
    parts[#parts + 1] = M.page_section(document .. "/" .. file, results_file.read(path),
      results_file.read_legends(path))
  end
  return #parts > 1 and table.concat(parts, "\n") or nil
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
