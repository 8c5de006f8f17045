-- Documentation in the terminal, read from the comments above the functions (LuaCATS) and, for functions of the core, from the
-- tables that bind them. A function is found by the file and line where it was defined, so docs cannot drift from what they describe.
local core = require "moonrank.core"
local luacats = require "moonrank.luacats"
local nearest = require "moonrank.nearest"
local M = {}

local parsed = {}

-- The documentation of a source file, standard library or a user's own; nil when there is no text.
local function docs_of(source)
  if parsed[source] == nil then
    local text = core.stdlib_source(source)
    local file = not text and io.open(source, "r")
    if file then
      text = file:read "a"
      file:close()
    end
    parsed[source] = text and luacats.parse(text) or false
  end
  return parsed[source] or nil
end

local function every_source()
  local all = {}
  for _, name in ipairs(core.stdlib_names()) do all[#all + 1] = name end
  table.sort(all)
  return all
end

-- Fields of an options class, wherever in the standard library it is declared.
local function class_fields(name)
  for _, source in ipairs(every_source()) do
    local class = docs_of(source).classes[name]
    if class then return class.fields end
  end
  return nil
end

-- path -> value for everything that scripts reach through `mr`, shortest path first where one value has several.
local function walk(root, path)
  local found, queue, seen = {}, { { path, root } }, { [root] = true }
  while #queue > 0 do
    local here = table.remove(queue, 1)
    local keys = {}
    for key in next, here[2] do
      if type(key) == "string" and not key:match "^_" and key ~= "core" then keys[#keys + 1] = key end
    end
    table.sort(keys)
    for _, key in ipairs(keys) do
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

-- Methods of classes written in Lua (`function Class:name` below `---@class mr.X`) and of the core's (from its tables).
local function methods()
  local found = {}
  for _, source in ipairs(every_source()) do
    local docs = docs_of(source)
    for _, item in ipairs(docs.items) do
      local class = item.owner and docs.locals[item.owner]
      if class then found[#found + 1] = { path = class .. item.separator .. item.name, item = item, source = source } end
    end
  end
  for _, row in ipairs(core.api()) do
    local separator = row.kind == "method" and ":" or "."
    found[#found + 1] = { path = row.target .. separator .. row.name, row = row }
  end
  return found
end

local function add(lines, ...) lines[#lines + 1] = (...) end

local function add_columns(lines, rows, indent)
  local name_width, type_width = 0, 0
  for _, row in ipairs(rows) do
    name_width = math.max(name_width, #row[1])
    if #row[2] <= 24 then type_width = math.max(type_width, #row[2]) end
  end
  for _, row in ipairs(rows) do
    add(lines, ((" "):rep(indent) .. ("%-" .. name_width .. "s  %-" .. type_width .. "s  %s"):format(row[1], row[2], row[3])):gsub("%s+$", ""))
  end
end

local function written_item(path, item, source)
  local lines = {}
  add(lines, path .. "(" .. table.concat(item.arguments, ", ") .. ")")
  if item.text ~= "" then add(lines, "\n" .. item.text) end
  local rows = {}
  for _, p in ipairs(item.params) do rows[#rows + 1] = { p.name .. (p.optional and "?" or ""), p.type, p.text } end
  if #rows > 0 then
    add(lines, "\nArguments")
    add_columns(lines, rows, 2)
  end
  for _, p in ipairs(item.params) do
    local fields = class_fields((p.type:gsub("[%?%[%]]", "")))
    if fields and #fields > 0 then
      local options = {}
      for _, f in ipairs(fields) do options[#options + 1] = { f.name .. (f.optional and "?" or ""), f.type, f.text } end
      add(lines, "\nFields of " .. p.name)
      add_columns(lines, options, 2)
    end
  end
  if #item.returns > 0 then
    local returns = {}
    for _, r in ipairs(item.returns) do returns[#returns + 1] = { r.type, "", r.text } end
    add(lines, "\nReturns")
    add_columns(lines, returns, 2)
  end
  for _, example in ipairs(item.examples) do
    add(lines, "\nExample")
    add(lines, "  " .. example:gsub("\n", "\n  "))
  end
  add(lines, ("\n%s:%d"):format(source, item.line))
  return table.concat(lines, "\n")
end

local function written_row(path, row)
  return ("%s%s\n\n%s\n\n(core)"):format(path, row.kind == "getter" and "" or "(" .. row.arguments .. ")", row.doc)
end

-- Where a Lua function was written: its documented item, and the file.
local function item_of(f)
  local info = debug.getinfo(f, "S")
  if info.what == "C" then return nil end
  local source = info.source:gsub("^@", "")
  local docs = docs_of(source)
  return docs and docs.by_line[info.linedefined], source, info.linedefined
end

local function row_of(f)
  for _, row in ipairs(core.api()) do
    if row.value ~= nil and rawequal(row.value, f) then return row end
  end
  return nil
end

local function written_function(path, f)
  local item, source, line = item_of(f)
  if item then return written_item(path or item.name, item, source) end
  local row = row_of(f)
  if row then return written_row(path or (row.target .. "." .. row.name), row) end
  if source then return ("%s\n\n(no documentation)\n\n%s:%d"):format(path or "function", source, line) end
  return (path or "function") .. "\n\n(no documentation: a function of Lua's or of a library in C)"
end

local function first_sentence(text)
  return (text:gsub("\n", " "):match "^(.-%.)%f[%s\0]" or text:gsub("\n.*", ""))
end

local function summary(value)
  if type(value) == "table" then return "" end
  local item = item_of(value)
  if item then return first_sentence(item.text) end
  local row = row_of(value)
  return row and first_sentence(row.doc) or ""
end

local function header_of(module)
  for name, loaded in next, package.loaded do
    if rawequal(loaded, module) then
      local stem = name:gsub("%.", "/")
      local docs = docs_of("stdlib/" .. stem .. ".lua") or docs_of("stdlib/" .. stem .. "/init.lua")
      if docs and docs.header ~= "" then return docs.header end
    end
  end
  return nil
end

local function written_table(path, module)
  local lines, rows = { path or "table" }, {}
  local header = header_of(module)
  if header then add(lines, "\n" .. header) end
  local names = {}
  for key in next, module do
    if type(key) == "string" and not key:match "^_" and key ~= "core" then names[#names + 1] = key end
  end
  table.sort(names)
  for _, name in ipairs(names) do
    local value = rawget(module, name)
    local kind = type(value)
    if kind == "function" then rows[#rows + 1] = { name, "", summary(value) }
    elseif kind == "table" then rows[#rows + 1] = { name .. ".", "", header_of(value) and first_sentence(header_of(value)) or "" } end
  end
  if #rows > 0 then
    add(lines, "")
    add_columns(lines, rows, 2)
  end
  return table.concat(lines, "\n")
end

local function written(entry)
  if entry.item then return written_item(entry.path, entry.item, entry.source) end
  if entry.row then return written_row(entry.path, entry.row) end
  if type(entry.value) == "function" then return written_function(entry.path, entry.value) end
  return written_table(entry.path, entry.value)
end

local function everything()
  local root = package.loaded.moonrank
  local all = walk(root, "mr")
  table.move(methods(), 1, #methods(), #all + 1, all)
  return all, root
end

-- Whether a path is meant by a topic: equal, or its end at a dot or colon ("ndcg" means mr.metrics.ndcg and mr.losses.ndcg).
local function means(path, topic)
  if path == topic then return true end
  local before = path:sub(-#topic - 1, -#topic - 1)
  return path:sub(-#topic) == topic and (before == "." or before == ":")
end

---The documentation of everything that a name means.
---@param topic string   `ndcg`, `metrics.ndcg`, `mr.Tensor:sum`
---@return string        raises where nothing has that name, and offers the nearest
---Example: `(require "moonrank.help".about("nearest.to"):match "^[^\n]*")   --> error: nothing is called 'nearest.to'`
function M.about(topic)
  if topic == "mr" or topic == "moonrank" then return written_table("mr", package.loaded.moonrank) end
  local all = everything()
  local parts, names, seen = {}, {}, {}
  for _, entry in ipairs(all) do
    if means(entry.path, topic) then parts[#parts + 1] = written(entry) end
    local last = entry.path:match "[^.:]+$"
    for _, name in ipairs { last, entry.path } do
      if not seen[name] then
        seen[name] = true
        names[#names + 1] = name
      end
    end
  end
  if #parts == 0 then error(("nothing is called '%s'%s"):format(topic, nearest.hint(topic, names)), 0) end
  return table.concat(parts, "\n\n" .. ("-"):rep(40) .. "\n\n")
end

---The documentation of a value: a function, a module, or a name as for `about`.
---@param value any
---@return string
---Example: `require "moonrank.help".of(mr.args):match "^[%w.]+"   --> mr.args`
function M.of(value)
  if type(value) == "string" then return M.about(value) end
  local all, root = everything()
  if rawequal(value, root) then return written_table("mr", root) end
  for _, entry in ipairs(all) do
    if entry.value ~= nil and rawequal(entry.value, value) then return written(entry) end
  end
  if type(value) == "function" then return written_function(nil, value) end
  if type(value) == "table" then return written_table(nil, value) end
  local class = type(value) == "userdata" and core.class_of(value)
  if class then
    local lines = { class, "" }
    local rows = {}
    for _, entry in ipairs(all) do
      local name = entry.path:sub(1, #class) == class and entry.path:match "^[%w_.]+[:.]([%w_]+)$"
      if name and (entry.row or entry.item) then
        rows[#rows + 1] = { entry.path:sub(#class + 1), "", first_sentence(entry.row and entry.row.doc or entry.item.text) }
      end
    end
    add_columns(lines, rows, 2)
    return table.concat(lines, "\n")
  end
  return ("%s: a %s"):format(tostring(value), type(value))
end

---Prints the documentation of a value or a name; without one, of all that there is.
---@param value? any
---Example: `require "moonrank.help".show == mr.help   --> true`
function M.show(value)
  print(M.of(value == nil and package.loaded.moonrank or value))
end

return M
