-- Sets results of an experiment beside published numbers: the difference of every number, and a table that summarises
-- the differences of each group of results.
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local given = require "moonrank.experiment.given"
local stats = require "moonrank.stats"
local tables = require "moonrank.experiment.tables"

local M = {}

local beside_options = declare("mr.experiment.BesideOptions", {
  { "published", "table[]", required = true, help = 'published rows: mr.data.csv("published.csv"):records()' },
  { "by", "string[]", required = true, help = "fields whose values say which published row belongs to a record" },
  { "fields", "string[]", required = true, help = "fields of the numbers that are compared" },
  { "shown", "string[]", shown = "all of fields", help = "fields that have columns in tables" },
  { "difference", "number", required = true, least = 0, help = "largest difference that counts as none" },
  { "group", "table", required = true, help = 'head and field, or function, that divide records: {"loss"}' },
  { "units", "string", default = "records", help = 'what records are: "models"' },
  { "title", "fun(field: string): string", shown = "the field", help = "returns the head of a field's column" },
  { "format", "string", default = "%.4f", help = "format of the numbers" },
  { "runs", "integer|fun(group: table, column: string): integer?", shown = "unknown",
    help = "training runs behind a cell of the table of groups, whose rows are arrays of records" },
})

-- Returns the values of a record in the fields `by` as a text. Numbers such as 1 and 1.0 have the same text.
local function key_of(record, by)
  local parts = {}
  for i, name in ipairs(by) do
    local value = record[name]
    parts[i] = type(value) == "number" and ("%.14g"):format(value) or tostring(value)
  end
  return table.concat(parts, "\0")
end

local function by_key(rows, by)
  local found = {}
  for i, row in ipairs(rows) do
    local key = key_of(row, by)
    if found[key] then
      check.fail("mr.experiment.beside: published[%d] has the values (%s) in the fields of by, as an earlier element "
        .. "has. Remove one of the two, or pass more fields in by", i, key:gsub("\0", ", "))
    end
    found[key] = row
  end
  return found
end

-- Adds the numbers of its published row, and the differences from them, to a record.
local function add_differences(record, row, o)
  local largest = 0.0
  for _, name in ipairs(o.fields) do
    local less = given.number("beside", name, record[name])
    local published = given.number("beside", name .. ", published", row[name])
    local ends = type(record[name]) == "table" and record[name] or {}
    less = less - published
    record[name .. ", printed"] = published
    record[name .. ", less published"] = { less, ends[2] and ends[2] - published, ends[3] and ends[3] - published }
    largest = math.abs(less) > math.abs(largest) and less or largest
  end
  record.largest = largest
end

-- Returns the differences of a group's records in a field, and how many are so small that they count as no difference.
local function differences(group, field, o)
  local found, near = {}, 0
  for i, record in ipairs(group) do
    found[i] = field == "largest" and record.largest or record[field .. ", less published"][1]
    -- a difference at the limit counts as near, whatever rounding errors it has
    near = near + (given.is_near(found[i], o.difference) and 1 or 0)
  end
  return found, near
end

local function table_of_groups(groups, o)
  local columns = { { o.group[1], "name" }, { o.units, function(group) return #group end } }
  for _, field in ipairs(o.shown) do
    local head = o.title(field)
    columns[#columns + 1] = { head .. " near", function(group) return select(2, differences(group, field, o)) end }
    columns[#columns + 1] = { "median of " .. head, format = (o.format:gsub("%%", "%%+")),
      function(group) return stats.median((differences(group, field, o))) end }
  end
  columns[#columns + 1] = { "all near", function(group) return select(2, differences(group, "largest", o)) end }
  return tables.table{ records = groups, columns = columns, runs = o.runs,
    caption = ("%s near the published ones, by %s"):format(o.units:gsub("^%l", string.upper), o.group[1]),
    legend = ([[
%s: how many are compared; near: how many of them differ by at most %g from the published number; median of:
differences from the published numbers; all near: how many are near by all %d numbers.]]):format(o.units, o.difference,
      #o.fields) }
end

-- Returns the columns of a table of records: each number, and its difference if any number is published.
local function columns_of(o, is_published)
  local columns, signed = {}, o.format:gsub("%%", "%%+")
  for _, field in ipairs(o.shown) do
    columns[#columns + 1] = { o.title(field), field, format = o.format }
    columns[#columns + 1] = is_published and { o.title(field) .. ", less published", field .. ", less published",
      format = signed }
  end
  columns[#columns + 1] = is_published and { "largest", format = signed }
  return columns
end

local legend = [[
less published: the number less the published one; largest: of these differences over all %d numbers;
]]

---Sets records beside the published rows that have equal values in the fields `by`. Such a record gets,
---for each of `fields`, the published number ("NAME, printed", as for `mr.experiment.agreement`) and the
---difference ("NAME, less published") as {mean, low, high}: its own number less the published one, which
---counts as exact. Its field `largest` is the difference, with its sign, that is largest in absolute value. Returns
---`columns` for a table of all records, a `legend` that explains the columns of differences, and `table`:
---for each group, how many records are near the published ones, and the median differences. If no
---record has a published row, `legend` is "" and `table` is nil.
---@param records table[]  results, with numbers or {mean, low, high}, as from `mr.experiment.mean`
---@param o mr.experiment.BesideOptions
---@return { columns: table[], legend: string, table?: mr.experiment.Named }
---Example:
---```lua
---local records = {{loss = "ap", rate = 0.1, ndcg = 0.52}, {loss = "ap", rate = 1, ndcg = 0.65}}
---local published = {{loss = "ap", rate = 0.1, ndcg = 0.5}, {loss = "ap", rate = 1, ndcg = 0.6}}
---local found = mr.experiment.beside(records, {published = published, by = {"loss", "rate"}, fields = {"ndcg"},
---  difference = 0.03, group = {"loss"}})
---found.table.table:column("ndcg near")[1], ("%.2f"):format(records[2].largest)   --> 1, 0.05
---```
function M.beside(records, o)
  given.array("beside", "records", records, "table", "records")
  o = beside_options:read("mr.experiment.beside", o)
  o.shown, o.title = o.shown or o.fields, o.title or function(field) return field end
  check.expect(type(o.group[1]) == "string", "mr.experiment.beside", "group", o.group,
    "a head and a field: {'Loss', 'loss'}")
  local rows, groups, name_of = by_key(o.published, o.by), {}, o.group[2] or o.group[1]
  local of_name = {}
  for _, record in ipairs(records) do
    local row = rows[key_of(record, o.by)]
    if row then
      add_differences(record, row, o)
      local name = type(name_of) == "function" and name_of(record) or record[name_of]
      if not of_name[name] then
        of_name[name] = { name = name }
        groups[#groups + 1] = of_name[name]
      end
      table.insert(of_name[name], record)
    end
  end
  local is_published = #groups > 0
  return { columns = columns_of(o, is_published), legend = is_published and legend:format(#o.fields) or "",
    table = is_published and table_of_groups(groups, o) or nil }
end

return M
