-- Finds topics that are not names in the library: names as scripts write them, with calls and
-- indices, fields of values, options.
local core = require "moonrank.core"
local docs = require "moonrank.help.docs"

local M = {}

---A topic without calls, indices and what else stands around a name in a script.
---@param topic string
---@return string
---Example: `require "moonrank.help.topic".plain 'mr.losses.ndcg{bound = "minmax"}'   --> mr.losses.ndcg`
---Example: `require "moonrank.help.topic".plain "ratings:folds{k = 5}[1].train"   --> ratings:folds.train`
function M.plain(topic)
  local name = topic:gsub("%b()", ""):gsub("%b{}", ""):gsub("%b[]", "")
  return name:match "^[%s?]*([^({%[\"'=]*)":match "^(.-)[%s.:]*$"
end

-- The class that a type names, if there is one.
local function class_in(written)
  local name = written:match "mr%.%u[%w.]*"
  return name and (docs.class(name) or core.classes[name]) and name or nil
end

---The class that a value is called after: "fold", "Fold" and "mr.Fold" are mr.Fold.
---@param owner string
---@return string?
---Example: `require "moonrank.help.topic".class "fold"   --> mr.Fold`
function M.class(owner)
  owner = owner:gsub("^mr%.", "")
  for _, name in ipairs(docs.class_names()) do
    if name:lower() == "mr." .. owner:lower() then return name end
  end
  return nil
end

-- The last part of an option table's name without "Options": "mr.sweep.TpeOptions" is "tpe".
local function short_name(name) return (name:match "[^.]+$":gsub("Options$", ""):lower()) end

---The names by which `option_tables` finds tables of options, sorted.
---@return string[]
---Example: `#require "moonrank.help.topic".option_names() > 0   --> true`
function M.option_names()
  local names = {}
  for i, name in ipairs(docs.option_names()) do names[i] = short_name(name) end
  return names
end

---Tables of options by the last part of their name: "TpeOptions" and "tpe" are mr.sweep.TpeOptions.
---@param topic string
---@return string[]
---Example: `require "moonrank.help.topic".option_tables("tpe")[1]   --> mr.sweep.TpeOptions`
function M.option_tables(topic)
  local found, wanted = {}, topic:gsub("Options$", ""):lower()
  for _, name in ipairs(docs.option_names()) do
    if short_name(name) == wanted and name ~= topic then found[#found + 1] = name end
  end
  return found
end

-- The class of the value that a documented function returns, or that a field has.
local function result_of(entry)
  if entry.item then return entry.item.returns[1] and class_in(entry.item.returns[1].type) end
  local row = core.describe(entry.value)
  return row and #row.types > 0 and class_in(row.types[#row.types]) or nil
end

-- A field or a method of a class: its path, what is known of it, and the class of its value.
local function member_of(class, name, all)
  for _, field in ipairs(docs.fields(class) or {}) do
    if field.name == name then return { path = class .. "." .. name, field = field, of = class, class = class_in(field.type) } end
  end
  for _, entry in ipairs(all) do
    if entry.path == class .. ":" .. name or entry.path == class .. "." .. name then
      return { path = entry.path, entry = entry, class = result_of(entry) }
    end
  end
  return nil
end

-- True if the path is the name, or ends with it after a dot or colon.
local function ends_with(path, name)
  return path == name or path:sub(-#name) == name and path:sub(-#name - 1, -#name - 1):match "[.:]" ~= nil
end

-- An option of a function: "mr.fit.patience", "fit.patience"; the function where its table of options is not a class.
local function option_of(path, all)
  local owner, name = path:match "^([%w_.:]+)[.:]([%w_]+)$"
  for _, entry in ipairs(owner and all or {}) do
    local item = ends_with(entry.path, owner) and (entry.item or type(entry.value) == "function" and docs.item(entry.value))
    for _, p in ipairs(item and item.params or {}) do
      for _, field in ipairs(docs.fields((p.type:gsub("[%?%[%]]", ""))) or {}) do
        if field.name == name then return { path = entry.path .. "." .. name, field = field, of = entry.path } end
      end
      if p.type:find("%f[%w_]" .. name .. "%f[^%w_]%??:") then return { path = entry.path, entry = entry } end
    end
  end
  return nil
end

---A field, a method or an option that a path leads to, through the classes of what stands before it; nil where there is none.
---@param path string  "fold.train", "mr.Run.test.mean", "ratings:folds.train", "fit.patience"
---@param all { path: string, item?: mr.luacats.Item, value?: any }[]  functions and methods with documentation
---@return { path: string, entry?: table, field?: mr.luacats.Entry, of?: string }?
function M.member(path, all)
  local owner, rest = path:gsub("^mr%.", ""):match "^(%a%w*)[.:](.+)$"
  local class, found = owner and M.class(owner), nil
  while class and rest ~= "" do
    local name, more = rest:match "^([%w_]+)[.:]?(.*)$"
    found = name and member_of(class, name, all)
    if not found then break end
    class, rest = found.class, more
  end
  return found and rest == "" and found or option_of(path, all)
end

---The words about a field or an option.
---@param member { path: string, field: mr.luacats.Entry, of: string }
---@return string
function M.written(member)
  local field = member.field
  local class = class_in(field.type)
  local words = field.text ~= "" and field.text .. "\n\n" or ""
  local lines = { member.path, "", words .. "Type", "  " .. field.type, "" }
  lines[#lines + 1] = ("of %s%s"):format(member.of, class and (", a %s (moonrank doc %s)"):format(class, class) or "")
  return table.concat(lines, "\n")
end

return M
