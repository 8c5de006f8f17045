-- Reads tables from CSV files.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local find = require "moonrank.data.find"
local tables = require "moonrank.table"

local M = {}

-- Returns the field that begins at byte `at` of a text, and the position after it; nil if its quotation mark is not
-- closed. `ends` is a pattern of the bytes that end a field. A carriage return before a line end is not of the field.
local function field_at(text, at, ends)
  if text:sub(at, at) ~= '"' then
    local stop = text:find(ends, at) or #text + 1
    local before_end = text:sub(stop - 1, stop):find "^\r\n?$" and stop > at
    if before_end then stop = stop - 1 end
    return text:sub(at, stop - 1), stop
  end
  local parts = {}
  repeat
    local part, stop = text:match('^([^"]*)"()', at + 1)
    if not part then return nil end
    parts[#parts + 1], at = part, stop - 1
    local doubled = text:sub(stop, stop) == '"'
    if doubled then parts[#parts + 1], at = '"', stop end
  until not doubled
  return table.concat(parts), at + 1
end

---Returns the rows of a CSV text, each with its fields as texts. Empty lines are skipped, and rows
---of unequal length are an error. Lines end with a line feed, or a carriage return before it. Fields
---in quotation marks may have delimiters, line breaks and doubled quotation marks.
---@param text string
---@param path string        name of the file, for errors
---@param delimiter? string  the character between fields (default ",")
---@return string[][]
---Example: `require("moonrank.data.csv").fields('a,"b,""c"\n', "x.csv")[1][2]   --> b,"c`
function M.fields(text, path, delimiter)
  delimiter = delimiter or ","
  local rows, fields, at = {}, {}, text:sub(1, 3) == "\xEF\xBB\xBF" and 4 or 1
  local ends = "[%" .. delimiter .. "\n]"
  while at <= #text do
    local field, stop = field_at(text, at, ends)
    if not field then
      check.fail("%s: row %d: a quotation mark is not closed, expected \" at the end of the field", path, #rows + 1)
    end
    fields[#fields + 1], at = field, stop
    local stops = text:match("^\r?\n", at) or text:match("^\r?$", at)
    if stops then
      if #fields > 1 or fields[1] ~= "" then
        if rows[1] and #fields ~= #rows[1] then
          check.fail("%s: row %d has %d fields, expected %d as in row 1", path, #rows + 1, #fields, #rows[1])
        end
        rows[#rows + 1] = fields
        if #rows % 1000 == 0 then core.check_interrupt() end
      end
      fields, at = {}, at + math.max(1, #stops)
    elseif text:sub(at, at) == delimiter then
      at = at + 1
      if at > #text then text = text .. "\n" end  -- the last field of the file is empty
    else
      check.fail("%s: row %d: after a field comes '%s', expected '%s' or the end of the line", path, #rows + 1,
        core.safe_text(text:sub(at, at)), delimiter)
    end
  end
  return rows
end

local not_decimal = { nan = 0 / 0, inf = math.huge, ["-inf"] = -math.huge }

-- Returns the number that a field is; nil for other fields. A number with leading zeros, such as 007, is a name.
local function number_of(field)
  if not_decimal[field:lower()] then return not_decimal[field:lower()] end
  if field:find "^[+-]?0%d" or not field:find "^[+-]?%.?%d[%d.eE+-]*$" then return nil end
  return tonumber(field)
end

-- Turns the fields of column `c` into numbers if each of them is a number or empty. Empty fields become nil.
local function convert(rows, c)
  local numbers = {}
  for r, row in ipairs(rows) do
    numbers[r] = row[c] ~= "" and number_of(row[c])
    if numbers[r] == nil then
      for _, each in ipairs(rows) do each[c] = tables.text_of_csv(each[c]) end
      return
    end
  end
  for r, row in ipairs(rows) do row[c] = numbers[r] or nil end
end

local csv_options = declare("mr.data.CsvOptions", {
  { "header", "boolean", default = true,
    help = "whether the first row names the columns; else they are called 1, 2, ..." },
  { "delimiter", "string", default = ",", also = { "sep", "separator" }, expected = "one character such as ','",
    accept = function(text) return #text == 1 and not text:find '[%w%c"]' or text == "\t" end,
    help = "the character between fields" },
  { "texts", "string[]", default = {}, shown = "none",
    help = "columns of texts, even if all their fields are numbers" },
})

---Reads a table from a CSV file. A column becomes numbers if all of its fields are numbers or empty;
---an empty field of such a column is nil. A number with leading zeros, such as 007, is a text. The
---table prints itself and has exports; `rows` are its rows, and `t:column("x")` is one column.
---A file that `to_csv` of a table wrote is read back with equal values. A compressed file, rows of unequal
---length and a column name that occurs twice are errors.
---@param path string
---@param options? mr.data.CsvOptions
---@return mr.Table
---Example:
---```lua
---local path = os.tmpname()
---io.open(path, "w"):write("name,score\nann,0.5\n\"b,c\",2\n"):close()
---local t = mr.data.csv(path)
---os.remove(path)
---t.rows[2][1], mr.tensor(t:column "score")   --> b,c, {0.5, 2}  mr.Tensor {2} float32
---```
function M.csv(path, options)
  local where = "mr.data.csv"
  local o = csv_options:read(where, options)
  local file = find.path(path)
  if file:find "%.gz$" then
    check.fail("%s: %s is compressed, expected plain text. Unpack it with gunzip", where, file)
  end
  core.check_file(file)
  local input <close> = assert(io.open(file, "rb"))
  local rows, names, seen, is_text = M.fields(input:read "a", file, o.delimiter), {}, {}, {}
  if #rows == 0 then check.fail("%s: %s is empty, expected a table", where, file) end
  for c, name in ipairs(rows[1]) do
    names[c] = o.header and name or ("%d"):format(c)
    if seen[names[c]] then
      check.fail("%s: %s has two columns '%s'. Rename one, or pass header = false", where, file, core.safe_text(name))
    end
    seen[names[c]] = true
  end
  for _, name in ipairs(o.texts) do
    check.choice(where, "texts", name, names)
    is_text[name] = true
  end
  if o.header then table.remove(rows, 1) end
  for c, name in ipairs(names) do
    if not is_text[name] then convert(rows, c) end
  end
  return tables.new{ columns = names, rows = rows }
end

return M
