-- Results with names: plain tables that print as what they are.
local core = require "moonrank.core"
local check = require "moonrank.check"
local make_table = require("moonrank.table").new

local M = {}

---@class mr.Record
local Record = check.exact_all("mr.Record:", {})
local classes = {}

local most = 6  -- entries of a list that are shown

local function shown(value)
  local kind = type(value)
  if kind == "number" then return math.type(value) == "float" and ("%.6g"):format(value) or tostring(value) end
  if kind == "string" then return core.safe_text(value) end
  if check.is_tensor(value) then
    return value:numel() == 1 and shown(value:item()) or ("{%s} %s"):format(table.concat(value:shape(), ", "), value.dtype)
  end
  if check.is_lists(value) then
    return ("%d lists, %d rows"):format(value.count, value.rows)
  end
  if kind ~= "table" or (getmetatable(value) or {}).__tostring then return core.safe_text((tostring(value):gsub("\n.*", " ..."))) end
  if #value == 0 and next(value) ~= nil then return "{" .. M.fields(value) .. "}" end
  local parts = {}
  for i = 1, math.min(#value, most) do parts[i] = shown(value[i]) end
  if #value > most then parts[most + 1] = "..." end
  return "{" .. table.concat(parts, ", ") .. "}"
end

---The fields of a table on one line, by name; what begins with _ is left out.
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

-- Fields that have one value each, by name: those of a table of them as "params.lr". What begins with _ is left out.
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

---One row with a column per field: "params.lr" is a field of a field; of tensors and lists their sizes.
---@return mr.Table
---Example: `mr.stats.summary(mr.tensor{1, 3}):table().columns[1]   --> mean`
function Record:table()
  local fields = flat(self, "", {})
  local names, row = check.names(fields), {}
  for i, name in ipairs(names) do row[i] = fields[name] end
  return make_table{ columns = names, rows = { row } }
end

---The table as comma separated values, numbers in full.
---@return string
---Example: `mr.stats.summary(mr.tensor{1, 3}):to_csv():match "[^\n]+"   --> mean,n,sd,skipped`
function Record:to_csv() return self:table():to_csv() end

---The table in LaTeX (packages: booktabs).
---@return string
---Example: `mr.stats.summary(mr.tensor{1, 3}):to_latex():find "toprule" ~= nil   --> true`
function Record:to_latex() return self:table():to_latex() end

---The table as a JSON array with one object.
---@return string
---Example: `mr.stats.summary(mr.tensor{1, 3}):to_json()   --> [{"mean":2.0,"n":2,"sd":1.4142135623730951,"skipped":0}]`
function Record:to_json() return self:table():to_json() end

-- An index function for a record with fixed fields. For a name that is not a field it gives the
-- method, or nil if the field may be absent, else it raises.
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

---Makes a table a record and returns it: it prints as its name and its fields, and is exported as
---an mr.Record is. Without `index`, reading a field that it lacks is an error.
---@param name string
---@param fields table<string, any>
---@param index? fun(self: table, name: string): any  what other names give; always the same for one name of a table
---@param may_be_absent? string[]  fields that are nil where the table lacks them
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
