-- Tables that print with aligned columns, and export to CSV, JSON, Markdown, LaTeX and HTML.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local escape = require "moonrank.table.escape"
local frame = require "moonrank.sweep.frame"
local latex = require "moonrank.table.latex"

local M = { csv_text = escape.csv, text_of_csv = escape.of_csv, escape_html = escape.html }

---A table with named columns. It prints as text, and is exported as CSV, HTML, LaTeX and Markdown.
---mr.table makes one.
---@class mr.Table
---@field columns string[]
---@field rows any[][]   nil entries show as blanks, NaN as "nan"
---@field mark table<string, "max"|"min"|number>  which numbers of a column are bold in HTML, LaTeX and Markdown
---@field direction table<string, "maximize"|"minimize">  columns of results, and which of their numbers are better
---@field across string[]  columns of results of which each row has its own best number
---@field main? string     column of results by which order = "mean" sorts; default: "mean" or the first such column
---@field within string[]  columns that divide the rows into groups, each with its own "max" and "min"
---@field notes string[]   lines below the table, in text, HTML, LaTeX and Markdown
local Table = check.class("mr.Table")

---Returns a number as text by a format. With a format such as "%.4f", a negative number that rounds to 0 has no sign.
---@param format string  as string.format takes it
---Example: `require("moonrank.table").digits("%.4f", -1e-9)   --> 0.0000`
function M.digits(format, value) return (format:format(value):gsub("^%-(0%.?0*)$", "%1")) end

local function formatted(format, value, column)
  local ok, text = pcall(M.digits, format, value)
  if not ok then
    check.expect(false, "mr.table", ("the format of column '%s'"):format(column), format,
      "one that can write %s, such as '%%.4f'", tostring(value))
  end
  return text
end

local function check_rows(o)
  for i, row in ipairs(o.rows) do
    for key in next, row do
      if math.type(key) ~= "integer" or key < 1 or key > #o.columns then
        check.expect(false, "mr.table", ("the place of the value %s in row %d"):format(check.found(row[key]), i), key,
          "a column number from 1 to %d. Remove the value, or name its column in columns", #o.columns)
      end
    end
  end
  for c, name in ipairs(o.columns) do
    local format = o.formats[name]
    for _, row in ipairs(format and o.rows or {}) do
      if type(row[c]) == "number" and row[c] == row[c] then formatted(format, row[c], name) end
    end
  end
end

-- Raises an error if an option of mr.table is about a column that the table does not have.
local function check_columns(o)
  check.distinct("mr.table", "columns", o.columns)
  for _, option in ipairs{ "formats", "within", "mark", "direction", "across" } do
    local is_list = option == "within" or option == "across"
    for key, value in pairs(o[option]) do
      check.choice("mr.table", "a column in " .. option, is_list and value or key, o.columns)
    end
  end
end

-- Returns the value of the option `direction` for a value of its former form, {NAME = "max"}.
local function from_extremes(better)
  local direction = {}
  for name, extreme in pairs(type(better) == "table" and better or {}) do
    direction[name] = extreme == "max" and "maximize" or extreme == "min" and "minimize" or extreme
  end
  return type(better) == "table" and direction or better
end

local table_options = declare("mr.TableOptions", {
  { "columns", "string[]", required = true, help = "names of the columns" },
  { "rows", "any[][]", default = {}, shown = "none", each = { "table" },
    help = "the values of each row, in the order of the columns; nil shows as a blank" },
  { "formats", "table<string, string>", default = {}, shown = "none", each = { "string" },
    help = 'formats of numbers by column, "%.4f"' },
  { "mark", 'table<string, "max"|"min"|number>', default = {}, shown = "none",
    each = { "string|number", choices = { "max", "min" },
      expected = "'max', 'min' or a number, such as 0.05 for p" },
    help = "by column, the numbers that are bold in HTML, LaTeX and Markdown: the largest (max), the smallest (min), "
      .. "or those below a number, as {p = 0.05}. Numbers that are printed alike are bold together" },
  { "direction", 'table<string, "maximize"|"minimize">', default = {},
    each = { "string", choices = { "maximize", "minimize" } },
    shown = "columns named after a metric or an error", formerly = "better", renamed = 2, meant = from_extremes,
    help = "columns of results, and whether larger or smaller numbers are better, for the options of to_latex" },
  { "across", "string[]", default = {}, shown = "none",
    help = "columns of results of which each row has its own best number, for the option best of to_latex" },
  { "within", "string[]", default = {}, shown = "none",
    help = "columns that divide the rows into groups, each with its own largest and smallest number; a group of one "
      .. "row has none" },
  { "notes", "string[]", default = {}, shown = "none", help = "lines below the table, but not in CSV and JSON" },
})

---Makes a table that prints with aligned columns, and exports to CSV, JSON, Markdown, LaTeX or
---HTML. Values of a row are in the order of `columns`.
---@param options mr.TableOptions
---@return mr.Table
---Example: `#mr.table{columns = {"a", "b"}, rows = {{1, 2}}}.rows   --> 1`
---Example:
---```lua
---local t = mr.table{columns = {"bound", "ndcg"}, rows = {{"none", 0.5}, {"minmax", 0.75}}, mark = {ndcg = "max"}}
---t:to_markdown():match "minmax[^\n]*"   --> minmax | **0.75** |
---```
function M.new(options)
  local o = table_options:read("mr.table", options)
  check_columns(o)
  check_rows(o)
  return setmetatable(o, Table)
end

---Returns the values of a column from the first row to the last; an empty cell is nil. An unknown
---name is an error.
---@param name string
---@return any[]
---Example: `mr.table{columns = {"a", "b"}, rows = {{1, 2}, {3, 4}}}:column("b")[2]   --> 4`
function Table:column(name)
  check.choice("table:column", "the column name", name, self.columns)
  local values = {}
  for c, other in ipairs(self.columns) do
    for r, row in ipairs(other == name and self.rows or {}) do values[r] = row[c] end
  end
  return values
end

---Returns an array with a table for each row: the row's values by the name of the column.
---@return table<string, any>[]
---Example: `mr.table{columns = {"loss", "ap"}, rows = {{"ndcg", 0.5}}}:records()[1].ap   --> 0.5`
function Table:records()
  local found = {}
  for r, row in ipairs(self.rows) do
    found[r] = {}
    for c, name in ipairs(self.columns) do found[r][name] = row[c] end
  end
  return found
end

-- Returns a value of column c as the text that is printed in the table.
local function cell(self, c, value)
  local format = self.formats[self.columns[c]]
  if value == nil then return "" end
  if type(value) == "number" then
    if value ~= value then return "nan" end
    if format then return formatted(format, value, self.columns[c]) end
    return (math.type(value) == "integer" and "%d" or "%.4g"):format(value)
  end
  return tostring(value)
end

-- Returns groups of row numbers. Rows of a group have equal values in the columns `within`.
local function groups(self)
  local of, list, at = {}, {}, {}
  for c, name in ipairs(self.columns) do at[name] = c end
  for r, row in ipairs(self.rows) do
    local parts = {}
    for i, name in ipairs(self.within) do parts[i] = tostring(row[at[name]]) end
    local key = table.concat(parts, "\0")
    if not of[key] then
      of[key] = {}
      list[#list + 1] = of[key]
    end
    table.insert(of[key], r)
  end
  return list
end

local pick = { max = math.max, min = math.min }

-- Returns the printed text of the largest or smallest finite number of column c among rows; nil if there is none.
local function best_of(self, c, rows, mark)
  local best
  for _, r in ipairs(rows) do
    local value = self.rows[r][c]
    -- Results of diverged trainings, which are NaN or infinite, are never the best.
    if check.is_finite(value) then best = best and pick[mark](value, best) or value end
  end
  return best and cell(self, c, best)
end

-- Returns which cells of a row are bold as the row's best number, by `across` ("max" or "min" of compared columns).
local function best_across(self, row, across)
  local best, bold = nil, {}
  for c, name in ipairs(self.columns) do
    local value, pick_better = row[c], pick[across[name]]
    if pick_better and check.is_finite(value) then
      best = best and pick_better(value, best) or value
    end
  end
  for c, name in ipairs(self.columns) do
    if best and across[name] and type(row[c]) == "number" then
      bold[c] = cell(self, c, row[c]) == cell(self, c, best)
    end
  end
  return bold
end

-- Returns which cells are bold, because of `mark` (the best value of a column, or values below a limit) or as the best
-- value of their row (`_across`): bold[row][column] is true for a bold cell.
local function bold_cells(self)
  local bold, all, across = {}, next(self.mark) and groups(self) or {}, rawget(self, "_across")
  for r, row in ipairs(self.rows) do bold[r] = across and best_across(self, row, across) or {} end
  for c, name in ipairs(self.columns) do
    local mark = self.mark[name]
    for _, rows in ipairs(mark and all or {}) do
      -- in a group of one row, no value is marked as the best
      local best = pick[mark] and #rows > 1 and best_of(self, c, rows, mark)
      for _, r in ipairs(rows) do
        local value = self.rows[r][c]
        if type(value) == "number" then
          bold[r][c] = best and cell(self, c, value) == best or not pick[mark] and value < mark
        end
      end
    end
  end
  return bold
end

local function padded(text, width, right)
  local fill = (" "):rep(width - utf8.len(text))
  return right and fill .. text or text .. fill
end

-- True if all values in column c are numbers; missing values do not count.
local function all_numbers(self, c)
  for _, row in ipairs(self.rows) do
    if row[c] ~= nil and type(row[c]) ~= "number" then return false end
  end
  return true
end

function Table:__tostring()
  -- cells[c][r]: text in column c, row r; r = 0 is the column's name
  local cells, widths, numeric, lines = {}, {}, {}, {}
  for c, name in ipairs(self.columns) do
    cells[c], widths[c], numeric[c] = { [0] = core.safe_text(name) }, 0, all_numbers(self, c)
    for r, row in ipairs(self.rows) do cells[c][r] = core.safe_text(cell(self, c, row[c])) end
    for r = 0, #self.rows do widths[c] = math.max(widths[c], utf8.len(cells[c][r])) end
  end
  local function line(value_of)
    local parts = {}
    for c = 1, #self.columns do parts[c] = padded(value_of(c), widths[c], numeric[c]) end
    lines[#lines + 1] = check.without_end_blanks(table.concat(parts, "  "))
  end
  for r = 0, #self.rows do
    line(function(c) return cells[c][r] end)
    if r == 0 then line(function(c) return ("-"):rep(widths[c]) end) end
  end
  for _, note in ipairs(self.notes) do lines[#lines + 1] = core.safe_text(note) end
  return table.concat(lines, "\n")
end

local function quoted(value)
  if value == nil then return "" end
  local text
  if type(value) == "number" then
    text = value ~= value and "nan" or (math.type(value) == "integer" and "%d" or "%.17g"):format(value)
  else
    text = escape.csv(tostring(value))
  end
  return text:find('[",\r\n]') and '"' .. text:gsub('"', '""') .. '"' or text
end

---Returns the table as comma-separated values with full precision. A text that a spreadsheet would
---run as a formula gets a quotation mark (') in front.
---@return string
---Example: `mr.table{rows = {{1, 2}}, columns = {"a", "b"}}:to_csv():match "[^\n]+"   --> a,b`
function Table:to_csv()
  local lines = {}
  local function line(values)
    local parts = {}
    for c = 1, #self.columns do parts[c] = quoted(values[c]) end
    lines[#lines + 1] = table.concat(parts, ",")
  end
  line(self.columns)
  for _, row in ipairs(self.rows) do line(row) end
  return table.concat(lines, "\n") .. "\n"
end

---Returns the table as a JSON array with an object per row. Empty cells are left out. NaN and
---infinite numbers are written as texts, because JSON does not have such numbers.
---@return string
---Example: `mr.table{columns = {"loss", "lr"}, rows = {{"ap", 0.5}}}:to_json()   --> [{"loss":"ap","lr":0.5}]`
function Table:to_json()
  local parts = {}
  for i, row in ipairs(self.rows) do
    local values = {}
    for c, name in ipairs(self.columns) do
      local value = row[c]
      if type(value) == "number" or type(value) == "boolean" then
        values[name] = value
      elseif value ~= nil then
        values[name] = tostring(value)
      end
    end
    parts[i] = frame.json_object(values)
  end
  return "[" .. table.concat(parts, ",\n") .. "]"
end

-- Returns a text on one line, with control characters escaped.
local function on_one_line(text) return core.safe_text((text:gsub("\r?\n", " "):gsub("[\r\t]", " "))) end

-- Returns the notes below the table, each escaped and then put in place of %s in `form`, such as "<p>%s</p>".
local function noted(self, form, escaped)
  local lines = {}
  for i, note in ipairs(self.notes) do lines[i] = form:format(escaped(on_one_line(note))) end
  return table.concat(lines)
end

-- Returns the lines of the table for an export. `first`, `between` and `last` are written before, between and after the
-- cells of a row, whose texts `escaped` escapes. A bold number is put in place of %s in `bold`, such as "**%s**".
local function marked(self, first, between, last, escaped, bold)
  local function line(value_of)
    local parts = {}
    for c = 1, #self.columns do parts[c] = value_of(c) end
    return first .. table.concat(parts, between) .. last
  end
  local lines, cells = { line(function(c) return escaped(on_one_line(self.columns[c])) end) }, bold_cells(self)
  for r, row in ipairs(self.rows) do
    lines[r + 1] = line(function(c)
      local text = escaped(on_one_line(cell(self, c, row[c])))
      return cells[r][c] and bold:format(text) or text
    end)
  end
  return lines
end

---Returns the table in Markdown, with numbers formatted as in the printed table.
---@return string
---Example: `mr.table{rows = {{1, 2}}, columns = {"a", "b"}}:to_markdown():match "[^\n]+"   --> | a | b |`
function Table:to_markdown()
  local lines = marked(self, "| ", " | ", " |", escape.markdown, "**%s**")
  local marks = {}
  for c = 1, #self.columns do marks[c] = all_numbers(self, c) and "---:" or "---" end
  table.insert(lines, 2, "| " .. table.concat(marks, " | ") .. " |")
  local function paragraph(note) return (escape.markdown(note):gsub("^[#+=-]", "\\%0")) end
  return table.concat(lines, "\n") .. "\n" .. noted(self, "\n%s\n", paragraph)
end

---Returns the table in LaTeX, with numbers formatted as in the printed table. It needs the LaTeX
---package booktabs. Options add a caption, sort the rows and print the best results in bold.
---@param options? mr.LatexOptions
---@return string
---Example:
---```lua
---local t = mr.table{columns = {"bound", "ndcg"}, rows = {{"none", 0.5}, {"minmax", 0.75}}}
---t:to_latex{order = "ndcg", best = true}:match "midrule\n([^\n]*)"   --> minmax & \textbf{0.75} \\
---```
function Table:to_latex(options)
  local o = latex.read("table:to_latex", options)
  local shown = latex.arranged(self, o, groups(self))
  local lines = marked(shown, "", " & ", " \\\\", escape.latex, "\\textbf{%s}")
  local marks = {}
  for c = 1, #self.columns do marks[c] = all_numbers(self, c) and "r" or "l" end
  table.insert(lines, 1, "\\begin{tabular}{" .. table.concat(marks) .. "}\n\\toprule")
  table.insert(lines, 3, "\\midrule")
  return latex.placed(o, table.concat(lines, "\n") .. "\n\\bottomrule\n\\end{tabular}\n"
    .. noted(self, "\\par{\\footnotesize %s\\par}\n", escape.latex))
end

---Returns the table in HTML, with numbers formatted as in the printed table. Cells of columns with
---numbers have the class "number", and bold numbers are within <strong>.
---@return string
---Example: `mr.table{rows = {{1, 2}}, columns = {"a", "b"}}:to_html():match "<td[^>]*>2</td>" ~= nil   --> true`
function Table:to_html()
  local lines, numeric, bold = {}, {}, bold_cells(self)
  for c = 1, #self.columns do numeric[c] = all_numbers(self, c) and ' class="number"' or "" end
  local function line(tag, value_of)
    local parts = {}
    for c = 1, #self.columns do parts[c] = ("<%s%s>%s</%s>"):format(tag, numeric[c], value_of(c), tag) end
    return "<tr>" .. table.concat(parts) .. "</tr>"
  end
  local head = line("th", function(c) return escape.html(on_one_line(self.columns[c])) end)
  lines[1] = "<table>\n<thead>" .. head .. "</thead>\n<tbody>"
  for r, row in ipairs(self.rows) do
    lines[#lines + 1] = line("td", function(c)
      local text = escape.html(on_one_line(cell(self, c, row[c])))
      return bold[r][c] and "<strong>" .. text .. "</strong>" or text
    end)
  end
  return table.concat(lines, "\n") .. "\n</tbody>\n</table>\n" .. noted(self, "<p>%s</p>\n", escape.html)
end

---Exports of every class with a method `table`: CSV, JSON, Markdown, LaTeX and HTML of the table
---that the method returns.
---@class mr.Exports
local Exports = {}

---Returns the object's results as comma-separated values with full precision.
---@return string
---Example: `mr.stats.summary(mr.tensor{1, 3}):to_csv():match "[^\n]+"   --> mean,n,sd,skipped`
function Exports:to_csv() return self:table():to_csv() end

---Returns the object's results as a JSON array with an object per row. Empty cells are left out.
---NaN and infinite numbers are written as texts.
---@return string
---Example:
---```lua
---local found = mr.evaluate(mr.tensor{3, 2}, mr.lists{{0, 1}}, {"rr"})
---found:to_json()   --> [{"lists":1,"mean":0.5,"metric":"rr","skipped":0}]
---```
function Exports:to_json() return self:table():to_json() end

---Returns the object's results as a Markdown table, with numbers formatted as in the printed table.
---@return string
---Example: `mr.stats.summary(mr.tensor{1, 3}):to_markdown():match "[^\n]+"   --> | mean | n | sd | skipped |`
function Exports:to_markdown() return self:table():to_markdown() end

---Returns the object's results as a LaTeX table (package booktabs), with numbers formatted as in the
---printed table. Options add a caption, sort the rows and print the best results in bold.
---@param options? mr.LatexOptions
---@return string
---Example: `mr.stats.summary(mr.tensor{1, 3}):to_latex():find "toprule" ~= nil   --> true`
function Exports:to_latex(options) return self:table():to_latex(options) end

---Returns the object's results as an HTML table, with numbers formatted as in the printed table.
---@return string
---Example: `mr.stats.summary(mr.tensor{1, 3}):to_html():match "^[^\n]+"   --> <table>`
function Exports:to_html() return self:table():to_html() end

---Adds the methods of mr.Exports (to_csv, to_json, ...) to a class, except methods that the class
---defines itself. The class needs a method `table`, and its comment says `---@class X: mr.Exports`.
---Call this function after the class's own exports are defined.
function M.add_exports(class)
  for name, method in pairs(Exports) do
    if rawget(class, name) == nil then class[name] = method end
  end
end

return M
