-- Reads files with pairwise comparisons of items, and files with features of items.
local core = require "moonrank.core"
local check = require "moonrank.check"
local dataset = require "moonrank.data.dataset"
local arguments = require("moonrank.options").arguments
local declare = require("moonrank.options").declare
local find = require "moonrank.data.find"

local M = {}

-- Numbers the ids in `columns` from 1: by value if all ids are whole numbers, else in order of appearance. Returns a
-- table from number to id and a table from id to number.
local function numbered(columns)
  local ids, known, whole = {}, {}, true
  for i = 1, #columns[1] do
    for _, column in ipairs(columns) do
      local id = column[i]
      if not known[id] then ids[#ids + 1], known[id] = id, true end
      whole = whole and id:match "^%-?%d+$" ~= nil and math.tointeger(tonumber(id)) ~= nil
    end
  end
  if whole then table.sort(ids, function(a, b) return math.tointeger(tonumber(a)) < math.tointeger(tonumber(b)) end) end
  for number, id in ipairs(ids) do known[id] = number end
  return ids, known
end

-- Returns the grades of the two rows of a comparison: 1 for the winner and 0 for the loser, or 1 and 1 for a tie.
local function grades_of(path, row, a, b, winner)
  if winner == a then return 1, 0 end
  if winner == b then return 0, 1 end
  if winner == "a" then return 1, 0 end
  if winner == "b" then return 0, 1 end
  if winner == "tie" then return 1, 1 end
  check.expect(false, path, ("the winner of comparison %d"):format(row), winner, "the id of an item (%s or %s), 'a' "
    .. "for the first item, 'b' for the second, or 'tie'", check.found(a), check.found(b))
end

local comparison_columns = declare("mr.data.ComparisonColumns", {
  { "a", "string", default = "item_a", help = "name of the column of the first item" },
  { "b", "string", default = "item_b", help = "name of the column of the second item" },
  { "winner", "string", default = "winner", help = "name of the column of the winner" },
})

local comparisons_options = declare("mr.data.ComparisonsOptions", {
  { "columns", "mr.data.ComparisonColumns", shown = "item_a, item_b and winner", help = "names of the columns" },
})

---Reads pairwise comparisons from a table with a header, plain or .gz: item a, item b and the
---winner. The winner is the item's id, or 'a', 'b' or 'tie'; anything else is an error. Each
---comparison is a list of two rows: the winner has grade 1 and the loser grade 0; in a tie both
---rows have grade 1. Item ids may be any text.
---Items are numbered from 1, by value if all ids are whole numbers, else in order of appearance.
---@param path string
---@param options? mr.data.ComparisonsOptions
---@return mr.Dataset
---Example:
---```lua
---local path <const> = os.tmpname()
---io.open(path, "w"):write("item_a,item_b,winner\nx,y,x\ny,z,b\n"):close()
---local set = mr.data.comparisons(path)
---os.remove(path)
---set.lists.relevance, set.items   --> {1, 0, 0, 1}  mr.Tensor {4} float32, {1, 2, 2, 3}  mr.Tensor {4} int64
---```
function M.comparisons(path, options)
  local where = "mr.data.comparisons"
  local names = comparison_columns:read(where .. " columns", comparisons_options:read(where, options).columns)
  local file = find.path(path)
  local a, b = core.read_pairs(file, names.a, names.b)
  local _, winners = core.read_pairs(file, names.a, names.winner)
  local ids, number = numbered{ a, b }
  local lists, items = {}, {}
  for i, winner in ipairs(winners) do
    if a[i] == b[i] then
      check.fail("%s: comparison %d compares item '%s' with itself", file, i, core.safe_text(a[i]))
    end
    lists[i] = { grades_of(file, i, a[i], b[i], winner) }
    items[2 * i - 1], items[2 * i] = number[a[i]], number[b[i]]
  end
  return dataset.new{ lists = require("moonrank.tensor").lists(lists), items = core.tensor(items, "int64", "cpu"),
    ids = { items = ids }, name = path }
end

---Features of items by item id, as mr.data.item_features reads them.
---@class mr.ItemFeatures
---@field ids string[]
---@field features mr.Tensor  [items, width] float32
local ItemFeatures = check.class("mr.ItemFeatures")

function ItemFeatures:__tostring()
  return ("features: %d items, %d features"):format(#self.ids, self.features:size(2))
end

---Returns the features of the items with the given ids, one row per id. An id without features is
---an error.
---@param ids string[]
---@return mr.Tensor  [ids, width]
function ItemFeatures:of(ids)
  local rows, lacking = {}, {}
  for i, id in ipairs(ids) do
    rows[i] = self._row[id]
    if not rows[i] then lacking[#lacking + 1] = id end
  end
  if #lacking > 0 then
    check.fail("item features: %d of %d items have no features; the first of these items is '%s'", #lacking, #ids,
      core.safe_text(lacking[1]))
  end
  return self.features:rows(core.tensor(rows, "int64", "cpu"))
end

local check_set = arguments{ "set", "mr.Dataset", accept = function(value) return dataset.is(value) and value.items end,
  expected = "a dataset with items, such as fold.train" }

---Returns a copy of a dataset in which each row has the features of its item, as a tensor
---[rows, width]. They replace features that the dataset had. The dataset needs items and their names
---(`set.ids.items`), as datasets of interactions and of comparisons have. An item without features
---is an error.
---@param set mr.Dataset
---@return mr.Dataset
function ItemFeatures:join(set)
  check_set("features:join", set)
  local ids = set.ids and set.ids.items or nil
  check.expect(ids and #ids > 0, "features:join", "ids.items of the dataset", ids, "the names of its items")
  local used, seen, row_of = {}, {}, {}
  for i, item in ipairs(core.integers(set.items)) do
    if not seen[item] then
      used[#used + 1] = ids[item]
      seen[item] = #used
    end
    row_of[i] = seen[item]
  end
  return dataset.with(set, { features = self:of(used):rows(core.tensor(row_of, "int64", "cpu")) })
end

-- Parses one line of a file of item features. Returns the item's id and a table of its feature values.
local function numbers_of(path, line, text, delimiter)
  local row, id = {}, nil
  for field in (text .. delimiter):gmatch("([^" .. delimiter .. "]*)" .. "[" .. delimiter .. "]") do
    if not id then
      id = field:match "^%s*(.-)%s*$"
    else
      local x = tonumber(field)
      if not check.is_finite(x) then
        check.expect(false, ("%s:%d"):format(path, line), ("number %d"):format(#row + 1), field, "a finite number")
      end
      row[#row + 1] = x
    end
  end
  return id, row
end

local rows_at_once = 256  -- after this many rows, Lua tables of rows are turned into a tensor, to save memory

-- Adds the item in a line of a file of item features to `found`. A second line of an item is an error.
local function take(found, path, line, text, delimiter)
  local id, row = numbers_of(path, line, text, delimiter)
  found.width = found.width or #row
  local place = ("%s:%d"):format(path, line)
  check.expect(id ~= "" and not found.row_of[id], place, "the item's id", id,
    "a text that is not empty and that no earlier line has")
  check.expect(#row > 0, place, "the count of numbers after the item's id", #row, "at least 1")
  check.expect(#row == found.width, place, "the count of numbers", #row, "%d, as in the lines before", found.width)
  found.ids[#found.ids + 1], found.row_of[id] = id, #found.ids + 1
  found.rows[#found.rows + 1] = row
  if #found.rows == rows_at_once then
    found.parts[#found.parts + 1], found.rows = core.tensor(found.rows, "float32", "cpu"), {}
  end
end

local item_features_options = declare("mr.data.ItemFeaturesOptions", {
  { "delimiter", "string", default = ",", also = { "sep", "separator" },
    expected = "one ASCII character such as ',', but no letter, no digit, and none of ^ ] - % .",
    accept = function(text) return #text == 1 and not text:find "[%w%^%]%-%%.]" end,
    help = "the character between fields" },
})

---Reads item features that another program computed, e.g. a network on images. The file is plain
---text: each line has an item's id and its feature values, equally many in all lines. A first line
---whose second field is not a number is a header, which is not read. A compressed file, a second
---line for an item, or another number of values is an error.
---@param path string
---@param options? mr.data.ItemFeaturesOptions
---@return mr.ItemFeatures
---Example:
---```lua
---local path <const> = os.tmpname()
---io.open(path, "w"):write("x,0.5,1\ny,2,0\n"):close()
---local features = mr.data.item_features(path)
---os.remove(path)
---features, features:of{"y"}   --> features: 2 items, 2 features, {{2, 0}}  mr.Tensor {1, 2} float32
---```
function M.item_features(path, options)
  local o = item_features_options:read("mr.data.item_features", options)
  local file = find.path(path)
  check.expect(not file:find "%.gz$", "mr.data.item_features", "path", file,
    "a plain text file, as gunzip makes of this one")
  core.check_file(file)  -- raises an error for pipes and devices, because reading them could block
  local input <close>, why = io.open(file, "rb")
  if not input then check.fail("mr.data.item_features: %s", why) end
  local found, line = { ids = {}, row_of = {}, rows = {}, parts = {} }, 0
  for text in input:lines() do
    line = line + 1
    text = text:gsub("\r$", "")
    local second = text:match("^[^" .. o.delimiter .. "]*[" .. o.delimiter .. "]([^" .. o.delimiter .. "]*)")
    local heading = line == 1 and second and not tonumber(second)
    if text ~= "" and not heading then take(found, file, line, text, o.delimiter) end
    if line % rows_at_once == 0 then core.check_interrupt() end
  end
  if #found.rows > 0 then found.parts[#found.parts + 1] = core.tensor(found.rows, "float32", "cpu") end
  check.not_empty(file, "the table of items", found.parts, "line with an item's id and its features")
  return setmetatable({ ids = found.ids, features = core.cat(found.parts, 1), _row = found.row_of }, ItemFeatures)
end

return M
