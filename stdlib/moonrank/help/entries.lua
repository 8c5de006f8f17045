-- Lists the functions, modules and classes of `mr` with their documentation, for the terminal (help.lua) and for the
-- HTML pages (manual).
local check = require "moonrank.check"
local core = require "moonrank.core"
local metrics = require "moonrank.metrics.registry"
local docs = require "moonrank.help.docs"
local M = {}

---@class mr.help.Entry
---@field path string       "mr.fit", "mr.Tensor:sum"
---@field value? any        a function or a module
---@field item? mr.luacats.Item
---@field source? string    file of `item`
---@field getter? boolean   whether the entry is a field of a class of the core

---@class mr.help.Description
---@field title string      name of the function with its arguments
---@field text string
---@field params mr.luacats.Entry[]
---@field returns mr.luacats.Entry[]
---@field examples string[]
---@field source? string
---@field line? integer

---Returns the names of a module's public fields, sorted. Names that begin with `_`, and `core`, are not public.
---Example: `require "moonrank.help.entries".members({b = 1, _a = 2})[1]   --> b`
function M.members(module)
  local names = {}
  for key in next, module do
    if type(key) == "string" and not key:match "^_" and key ~= "core" then names[#names + 1] = key end
  end
  table.sort(names)
  return names
end

-- Returns path and value of all functions and modules in `mr`, once for each path, the shortest path first.
local function walk(root, path)
  -- reading a field of `mr` loads its module, which is otherwise loaded when it is first used
  for _, name in ipairs(root.names()) do check.attempt(function() return root[name] end) end
  local found, queue, seen = {}, { { path, root } }, { [root] = true }
  while #queue > 0 do
    local here = table.remove(queue, 1)
    for _, key in ipairs(M.members(here[2])) do
      local value, at = rawget(here[2], key), here[1] .. "." .. key
      local kind = type(value)
      if kind == "function" or kind == "table" then found[#found + 1] = { path = at, value = value } end
      if kind == "table" and not seen[value] then
        seen[value] = true
        queue[#queue + 1] = { at, value }
      end
    end
  end
  return found
end

-- Returns the methods of classes written in Lua, and the methods and fields of classes of the C++ core. A class in Lua
-- is a local table below `---@class mr.X`, with functions `Class:name`.
local function methods()
  local found = {}
  for _, source in ipairs(docs.sources()) do
    local read = docs.of_source(source)
    for _, item in ipairs(read.items) do
      local class = item.owner and read.locals[item.owner]
      if class and not item.name:find "^_%a" then  -- methods whose names begin with `_` are not public
        found[#found + 1] = { path = class .. item.separator .. item.name, item = item, source = source }
      end
    end
  end
  for name, class in pairs(core.classes) do
    for method, f in pairs(class.methods) do found[#found + 1] = { path = name .. ":" .. method, value = f } end
    for field, f in pairs(class.getters) do
      if field ~= "[]" then found[#found + 1] = { path = name .. "." .. field, value = f, getter = true } end
    end
  end
  table.sort(found, function(a, b) return a.path < b.path end)
  return found
end

---Returns an entry for every function and module in `mr`, for every public method of its classes, and
---for every field of classes of the C++ core. Also returns `mr` itself.
---@return mr.help.Entry[] all
---Example: `#require "moonrank.help.entries".all() > 300   --> true`
function M.all()
  local root = require "moonrank"
  local all = walk(root, "mr")
  for _, method in ipairs(methods()) do all[#all + 1] = method end
  return all, root
end

local function of_item(path, item, source)
  return { title = path .. "(" .. table.concat(item.arguments, ", ") .. ")", text = item.text, params = item.params,
    returns = item.returns, examples = item.examples, source = source, line = item.line }
end

-- Returns the documentation of a function of the C++ core from its record, with types of the C++ signature.
local function of_row(path, row, getter)
  local names, shown, results, arrow = {}, {}, {}, false
  local d = { text = row.doc, params = {}, returns = {}, examples = {} }
  for name in row.arguments:gmatch "[^,%s]+" do names[#names + 1] = name end
  for i, kind in ipairs(row.types) do
    if kind == "->" then arrow = true
    elseif arrow then results[#results + 1] = kind
    elseif not (i == 1 and (getter or path:find ":")) then  -- the object of a method or a field
      local name, optional = (names[i] or "?"):match "^(.-)(%??)$"
      shown[#shown + 1] = names[i] or "?"
      local is_optional = optional == "?" or kind:find "%?$" ~= nil
      d.params[#d.params + 1] = { name = name, type = kind:gsub("%?$", ""), text = "", optional = is_optional }
    end
  end
  d.title = path .. (getter and "" or "(" .. table.concat(shown, ", ") .. ")")
  if #results > 0 then d.returns[1] = { type = table.concat(results, ", "), text = "" } end
  return d
end

---Returns the documentation of a function or method; nil if it has none.
---@param entry mr.help.Entry  without a path, the title has the function's own name
---@return mr.help.Description?
function M.describe(entry)
  if entry.item then return of_item(entry.path, entry.item, entry.source) end
  local item, source = docs.item(entry.value)
  if item then
    local d = of_item(entry.path or item.name, item, source)
    if entry.getter then d.title = entry.path end
    return d
  end
  local row = core.describe(entry.value)
  return row and of_row(entry.path or row.name, row, entry.getter)
end

---Returns the documented fields of a function's argument whose type is an option table, such as
---mr.FitOptions, or a class; nil for an argument of another type.
---@return mr.luacats.Entry[]?
function M.options_of(param) return docs.fields((param.type:gsub("[%?%[%]]", ""))) end

-- Abbreviations such as "e.g." and "et al.", whose full stop does not end a sentence.
local abbreviations = { Eq = true, Eqs = true, al = true, g = true, e = true, Fig = true }

---Returns the first sentence of a text. A full stop in brackets or after an abbreviation does not end the sentence.
---Example: `require "moonrank.help.entries".first_sentence "Adds (e.g. 1). More."   --> Adds (e.g. 1).`
function M.first_sentence(text)
  local line, from = text:gsub("\n\n.*", ""):gsub("\n", " "), 1
  while true do
    local stop = line:find("%.%f[%s\0]", from)
    if not stop then return line end
    local before = line:sub(1, stop)
    local _, opened = before:gsub("%(", "")
    local _, closed = before:gsub("%)", "")
    if opened <= closed and not abbreviations[before:match "(%a+)%.$"] then return before end
    from = stop + 1
  end
end

---Returns the first sentence of a function's documentation; "" for a table, and for a function without
---documentation.
---Example: `require "moonrank.help.entries".summary(mr.has_cuda)   --> Returns true if a GPU can be used, else false.`
function M.summary(value)
  if type(value) == "table" then return "" end
  local item = docs.item(value)
  if item then return M.first_sentence(item.text) end
  local row = core.describe(value)
  return row and M.first_sentence(row.doc) or ""
end

---Returns the first sentence of a metric's documentation in the metric registry; "" if the metric is not known.
---Example: `require "moonrank.help.entries".metric_summary "tbg":match "^%S+"   --> Time-biased`
function M.metric_summary(name)
  local text = metrics.written(name)
  return text and M.first_sentence(text:match "\n\n(%S.*)$" or "") or ""
end

---Returns the comment at the beginning of a module's source file; nil if there is none, or if the
---value is not a module of the library.
---Example: `require "moonrank.help.entries".header_of(mr.models):match "^%w+"   --> Models`
function M.header_of(module)
  local names = {}
  for name, loaded in next, package.loaded do
    if type(name) == "string" and rawequal(loaded, module) then names[#names + 1] = name end
  end
  -- a module may be loaded under two names, and package.loaded has no order: sorted names always give the same source
  -- file
  table.sort(names)
  for _, name in ipairs(names) do
    local stem = name:gsub("%.", "/")
    local read = docs.of_source("stdlib/" .. stem .. ".lua") or docs.of_source("stdlib/" .. stem .. "/init.lua")
    if read and read.header ~= "" then return read.header end
  end
  return nil
end

---Returns the first sentence about a function or submodule of a module; "" if there is none.
---@param name string  of the function or submodule
function M.member_summary(module, name)
  local value = rawget(module, name)
  if type(value) == "table" then return M.first_sentence(M.header_of(value) or "") end
  local own = type(value) == "function" and M.summary(value) or ""
  return own == "" and rawequal(module, package.loaded["moonrank.metrics"]) and M.metric_summary(name) or own
end

---Returns the methods and computed fields of a class and of its parent classes, sorted.
---@param all mr.help.Entry[]  from `all`
---@return mr.help.Entry[]
function M.class_members(name, all)
  local found, seen = {}, {}
  local function put(entry, path)
    if not seen[path] then
      found[#found + 1] = { path = path, value = entry.value, item = entry.item, source = entry.source,
        getter = entry.getter }
    end
    seen[path] = true
  end
  for _, entry in ipairs(all) do
    local member = entry.path:sub(1, #name) == name and entry.path:sub(#name + 1):match "^[:.][%w_]+$"
    if member and (entry.item or entry.value) then put(entry, entry.path) end
  end
  local class = docs.class(name)
  for _, parent in ipairs(class and class.parents or {}) do
    for _, entry in ipairs(M.class_members(parent, all)) do put(entry, name .. entry.path:sub(#parent + 1)) end
  end
  table.sort(found, function(a, b) return a.path < b.path end)
  return found
end

---Returns the classes and option tables that are not internal: those that scripts name, and those of
---their fields and of the arguments and results of functions. `more` has names of further ones as keys.
---@param all mr.help.Entry[]  from `all`
---@param more? table<string, any>
---@return table<string, true>
function M.public_classes(all, more)
  local found, queue = {}, docs.class_names()
  for name in pairs(more or {}) do queue[#queue + 1] = name end
  local function put_types(list)
    for _, each in ipairs(list or {}) do
      for name in each.type:gmatch "mr%.[%w_.]*[%w_]" do queue[#queue + 1] = name end
    end
  end
  for _, entry in ipairs(all) do
    local d = (entry.item or type(entry.value) == "function") and M.describe(entry)
    if d and not entry.path:match "^mr%.[%w_]+%.%u" then
      put_types(d.params)
      put_types(d.returns)
    end
  end
  local at = 1
  while queue[at] do
    local name = queue[at]
    local is_known = not docs.is_internal(name) and (docs.class(name) or #M.class_members(name, all) > 0)
    if not found[name] and is_known then
      found[name] = true
      put_types(docs.fields(name))
    end
    at = at + 1
  end
  return found
end

return M
