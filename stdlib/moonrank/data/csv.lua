-- Reads tables from CSV files.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local find = require "moonrank.data.find"
local tables = require "moonrank.table"

local M = {}

local not_decimal = { nan = 0 / 0, inf = math.huge, ["-inf"] = -math.huge }

-- Returns a field as a number; nil for a name, such as 007, and for an integer that does not fit into 64 bits. A number
-- such as 1e400, which is too large for 64-bit floating point, becomes infinity.
local function number_of(field)
  if not_decimal[field:lower()] then return not_decimal[field:lower()] end
  if field:find "^[+-]?0%d" or not field:find "^[+-]?%.?%d[%d.eE+-]*$" then return nil end
  local number = tonumber(field)
  return (math.type(number) == "integer" or field:find "[.eE]") and number or nil
end

-- Returns the numbers in column `c`, with false for an empty field; nil if a field is neither a number nor empty.
local function numbers_of(rows, c)
  local numbers = {}
  for r, row in ipairs(rows) do
    numbers[r] = row[c] ~= "" and number_of(row[c])
    if numbers[r] == nil then return nil end
  end
  return numbers
end

-- Turns the fields of column `c` into numbers if each of them is a number or empty. Empty fields become nil. Raises
-- an error for a number such as 1e400, which would become infinity. `place_of(r)` is the place of row r for the error.
local function convert(rows, c, is_text, place_of)
  local numbers = not is_text and numbers_of(rows, c)
  for r, row in ipairs(rows) do
    if numbers and numbers[r] and math.abs(numbers[r]) == math.huge and not not_decimal[row[c]:lower()] then
      check.expect(false, place_of(r), "the field", row[c], "a number with an absolute value below 1.8e308, or inf for "
        .. "infinity; or name the column in texts")
    end
    if numbers then row[c] = numbers[r] or nil else row[c] = tables.text_of_csv(row[c]) end
  end
end

local csv_options = declare("mr.data.CsvOptions", {
  { "header", "boolean", default = true,
    help = "whether the first row names the columns; else they are called 1, 2, ..." },
  { "delimiter", "string", default = ",", also = { "sep", "separator" },
    expected = "one ASCII character such as ',', but no letter, no digit, no double quote, and no control character "
      .. "except tab",
    accept = function(text) return #text == 1 and not text:find '[%w%c"]' or text == "\t" end,
    help = "the character between fields" },
  { "texts", "string[]", default = {}, shown = "none",
    help = "columns of texts, even if all their fields are numbers" },
})

---Reads a table from a CSV file. A column becomes numbers if all of its fields are numbers or empty;
---an empty field of such a column is nil. Integers of up to 64 bits are exact. A number with leading
---zeros, such as 007, and an integer beyond 64 bits are texts, and so is the rest of their column.
---Fields in quotation marks may have delimiters, line ends and doubled quotation marks. Empty lines are
---skipped. A file that begins like gzip is unpacked.
---
---The table prints itself and has exports; `rows` are its rows, and `t:column("x")` is one column.
---Numbers that `to_csv` of a table wrote are read back as equal numbers. Texts that look like numbers
---become numbers, unless `texts` names their column. Rows of unequal length, an open
---quotation mark and a number that is too large, such as 1e400, are errors that give the line. A column
---name that occurs twice is an error, too. Infinity is written inf or -inf.
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
  local rows, lines = core.read_csv(file, o.delimiter)
  local names, is_text = {}, {}
  check.not_empty(where, file, rows, "line")
  for c, name in ipairs(rows[1]) do
    names[c] = o.header and tables.text_of_csv(name) or ("%d"):format(c)
  end
  check.distinct(where, ("%s, read with header = %s,"):format(file, o.header), names)
  for _, name in ipairs(o.texts) do
    check.choice(where, "a column named in texts", name, names)
    is_text[name] = true
  end
  if o.header then table.remove(rows, 1) end
  for c, name in ipairs(names) do
    convert(rows, c, is_text[name], function(r)
      return ("%s: %s:%d, column '%s'"):format(where, file, lines[o.header and r + 1 or r], core.safe_text(name))
    end)
  end
  return tables.new{ columns = names, rows = rows }
end

return M
