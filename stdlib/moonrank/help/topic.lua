-- Finds the documentation of topics that are not the name of a function or class: names copied from a script with calls
-- and indices, fields of values ("fold.train"), and options ("fit.patience").
local core = require "moonrank.core"
local docs = require "moonrank.help.docs"
local entries = require "moonrank.help.entries"

local M = {}

---Returns the plain name in a piece of code that was copied from a script; "" if it has none.
---Calls, indices and assignments are removed.
---Example: `require "moonrank.help.topic".plain 'mr.losses.ndcg{bound = "minmax"}'   --> mr.losses.ndcg`
---Example: `require "moonrank.help.topic".plain "ratings:folds{k = 5}[1].train"   --> ratings:folds.train`
function M.plain(topic)
  if not topic:find "[%w\128-\255]" then return topic:match "^%s*(.-)%s*$" end  -- an operator, such as ~=
  local name = topic:gsub("%b()", ""):gsub("%b{}", ""):gsub("%b[]", "")
  return name:match "^[%s?]*([^({%[\"'=]*)":match "^(.-)[%s.:]*$"
end

-- Returns the name of the class in a LuaCATS type such as "mr.Fold?", or nil if the type contains no known class.
local function class_in(written)
  local name = written:match "mr%.%u[%w.]*"
  return name and (docs.class(name) or core.classes[name]) and name or nil
end

---Returns the class that a name means, in capitals or not, with or without "mr.": "fold", "Fold"
---and "mr.Fold" mean mr.Fold. Returns nil if there is no such class.
---@param owner string  the name
---Example: `require "moonrank.help.topic".class "fold"   --> mr.Fold`
function M.class(owner)
  owner = owner:gsub("^mr%.", "")
  for _, name in ipairs(docs.class_names()) do
    if name:lower() == "mr." .. owner:lower() then return name end
  end
  return nil
end

-- Returns the short name of an option table: "tpe" for "mr.sweep.TpeOptions".
local function short_name(name) return (name:match "[^.]+$":gsub("Options$", ""):lower()) end

---Returns the short names of all option tables, such as "tpe" for mr.sweep.TpeOptions.
---Example: `#require "moonrank.help.topic".option_names() > 0   --> true`
function M.option_names()
  local names = {}
  for i, name in ipairs(docs.option_names()) do names[i] = short_name(name) end
  return names
end

---Returns the full names of the option tables that a short name means: mr.sweep.TpeOptions for
---"TpeOptions" and "tpe". The list is empty if there are none.
---Example: `require "moonrank.help.topic".option_tables("tpe")[1]   --> mr.sweep.TpeOptions`
function M.option_tables(topic)
  local found, wanted = {}, topic:gsub("Options$", ""):lower()
  for _, name in ipairs(docs.option_names()) do
    if short_name(name) == wanted and name ~= topic then found[#found + 1] = name end
  end
  return found
end

-- Returns the class of a function's first result, or of a field's value; nil if it is not a class.
local function result_of(entry)
  if entry.item then return entry.item.returns[1] and class_in(entry.item.returns[1].type) end
  local row = core.describe(entry.value)
  return row and #row.types > 0 and class_in(row.types[#row.types]) or nil
end

-- Returns path, documentation and result class of a field or method of a class; nil if there is none.
local function member_of(class, name, all)
  for _, field in ipairs(docs.fields(class) or {}) do
    if field.name == name then
      return { path = class .. "." .. name, field = field, of = class, class = class_in(field.type) }
    end
  end
  for _, entry in ipairs(entries.class_members(class, all)) do
    if entry.path == class .. ":" .. name or entry.path == class .. "." .. name then
      return { path = entry.path, entry = entry, class = result_of(entry) }
    end
  end
  return nil
end

---Returns true if a topic is the path of a function or class, or the end of its path after a dot or colon: "sum" means
---mr.Tensor:sum.
function M.means(path, name)
  return path == name or path:sub(-#name) == name and path:sub(-#name - 1, -#name - 1):match "[.:]" ~= nil
end

-- Finds an option from a path such as "fit.patience"; the function itself if only a LuaCATS type has the option.
local function option_of(path, all)
  local owner, name = path:match "^([%w_.:]+)[.:]([%w_]+)$"
  for _, entry in ipairs(owner and all or {}) do
    local item = M.means(entry.path, owner)
      and (entry.item or type(entry.value) == "function" and docs.item(entry.value))
    for _, p in ipairs(item and item.params or {}) do
      for _, field in ipairs(entries.options_of(p) or {}) do
        if field.name == name then return { path = entry.path .. "." .. name, field = field, of = entry.path } end
      end
      if p.type:find("%f[%w_]" .. name .. "%f[^%w_]%??:") then return { path = entry.path, entry = entry } end
    end
  end
  return nil
end

---Returns the field, method or option that a path such as "ratings:folds.train" leads to; nil if it
---leads to none. Each name in the path is looked up in the class of the value before it.
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

---Returns the documentation of a field or an option as text.
---@param member { path: string, field: mr.luacats.Entry, of: string }
function M.written(member)
  local field = member.field
  local class = class_in(field.type)
  local words = field.text ~= "" and field.text .. "\n\n" or ""
  local lines = { member.path, "", words .. "Type", "  " .. field.type, "" }
  lines[#lines + 1] = ("of %s%s"):format(member.of, class and (", a %s (moonrank doc %s)"):format(class, class) or "")
  return table.concat(lines, "\n")
end

return M
