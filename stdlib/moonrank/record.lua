-- Records: result tables with a name, such as paired_t{n = 3, p = 0.25}. A record prints as its name and its fields.
local brief = require "moonrank.table.brief"
local core = require "moonrank.core"
local check = require "moonrank.check"
local tables = require "moonrank.table"

local M = {}

---A result with named fields, such as that of a test in mr.stats. It prints as its name and fields.
---@class mr.Record: mr.Exports
local Record = check.exact_all("mr.Record:", {})
local classes = {}

local most = 6  -- largest number of a list's entries that a record prints

local function shown(value)
  local kind = type(value)
  if kind == "number" then return math.type(value) == "float" and ("%.6g"):format(value) or tostring(value) end
  if kind == "string" then return core.safe_text(value) end
  if check.is_tensor(value) then
    return value:numel() == 1 and shown(value:item())
      or ("{%s} %s"):format(table.concat(value:shape(), ", "), value.dtype)
  end
  if check.is_lists(value) then
    return ("%d lists, %d rows"):format(value.count, value.rows)
  end
  if kind ~= "table" or (getmetatable(value) or {}).__tostring then return brief.text(value) end
  if #value == 0 and next(value) ~= nil then return "{" .. M.fields(value) .. "}" end
  local parts = {}
  for i = 1, math.min(#value, most) do parts[i] = shown(value[i]) end
  if #value > most then parts[most + 1] = "..." end
  return "{" .. table.concat(parts, ", ") .. "}"
end

---Returns the fields of a table as text on one line, sorted by name. Names that begin with _ are left out.
---@param fields table<string, any>
---@return string
---Example: `require("moonrank.record").fields{b = 0.5, a = {1, 2}}   --> a = {1, 2}, b = 0.5`
function M.fields(fields)
  local parts, names = {}, {}
  for name in pairs(fields) do
    if type(name) == "string" and not name:match "^_" then names[#names + 1] = name end
  end
  table.sort(names)
  for i, name in ipairs(names) do parts[i] = ("%s = %s"):format(core.safe_text(name), shown(fields[name])) end
  return table.concat(parts, ", ")
end

-- Returns a record's fields, with those of nested tables under joined names such as "params.lr". Names that begin with
-- _ are left out.
local function flat(fields, before, into)
  for name, value in pairs(fields) do
    local text = before .. tostring(name)
    if type(value) == "table" and not getmetatable(value) and not text:match "^_" then
      flat(value, text .. ".", into)
    elseif not text:match "^_" then
      into[text] = (type(value) == "table" or type(value) == "userdata") and shown(value) or value
    end
  end
  return into
end

---Returns a table with one row, and a column for each field of the record. A field of a nested table is called
---"params.lr". Tensors and lists are shown by their sizes, a tensor with one number by the number.
---Names that begin with _ are left out.
---@return mr.Table
---Example: `mr.stats.summary(mr.tensor{1, 3}):table().columns[1]   --> mean`
function Record:table()
  local fields = flat(self, "", {})
  local names, row = check.names(fields), {}
  for i, name in ipairs(names) do row[i] = fields[name] end
  return tables.new{ columns = names, rows = { row } }
end

tables.add_exports(Record)

-- Returns the __index function of a record: a method, nil for a name in `may_be_absent`, else an error.
local function fixed(what, may_be_absent)
  local absent = {}
  for _, each in ipairs(may_be_absent or {}) do absent[each] = true end
  return function(self, field)
    if Record[field] ~= nil or absent[field] then return Record[field] end
    local known = check.names(self)
    for each in pairs(absent) do known[#known + 1] = each end
    check.unknown("field of " .. what, field, known)
  end
end

---Makes the table `fields` a record and returns the same table. A record prints as its name and its fields, and has the
---exports of mr.Record (to_markdown, to_csv, ...). Without `index`, reading an unknown field is an error.
---@param name string  what kind of result it is: "paired_t"
---@param fields table<string, any>
---@param index? fun(self: table, name: string): any  returns the value of any other field; one function per record name
---@param may_be_absent? string[]  fields that are nil if the table lacks them
---@return table
---Example: `require("moonrank.record").new("paired_t", {p = 0.25, n = 3})   --> paired_t{n = 3, p = 0.25}`
function M.new(name, fields, index, may_be_absent)
  classes[name] = classes[name] or { __name = name,
    __index = index and function(self, field)
      local value = index(self, field)
      if value == nil then return Record[field] end
      return value
    end or fixed(name, may_be_absent),
    __tostring = function(self) return ("%s{%s}"):format(name, M.fields(self)) end }
  return setmetatable(fields, classes[name])
end

return M
