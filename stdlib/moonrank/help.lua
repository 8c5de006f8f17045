-- Documentation in the terminal, read from the comments above the functions (LuaCATS) and, for functions of the core, from the op tables. A
-- function is found by the file and line of its definition, so documentation cannot be that of another.
local core = require "moonrank.core"
local bounds = require "moonrank.bounds.registry"
local metrics = require "moonrank.metrics.registry"
local check = require "moonrank.check"
local docs = require "moonrank.help.docs"
local search = require "moonrank.help.search"
local topics = require "moonrank.help.topic"
local M = {}

-- path -> value for all fields of `mr`, shortest path first where one value has several.
local function walk(root, path)
  for _, name in ipairs(root.names()) do pcall(function() return root[name] end) end  -- parts load when first used
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
  for _, source in ipairs(docs.sources()) do
    local read = docs.of_source(source)
    for _, item in ipairs(read.items) do
      local class = item.owner and read.locals[item.owner]
      if class then found[#found + 1] = { path = class .. item.separator .. item.name, item = item, source = source } end
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

local function add(lines, text) lines[#lines + 1] = text end

local function padded(text, width) return text .. (" "):rep(width - #text) end

local function add_columns(lines, rows, indent)
  local name_width, type_width, typed = 0, 0, false
  for _, row in ipairs(rows) do
    name_width = math.max(name_width, #row[1])
    typed = typed or row[2] ~= ""
    if #row[2] <= 24 then type_width = math.max(type_width, #row[2]) end
  end
  for _, row in ipairs(rows) do
    local line = padded(row[1], name_width) .. "  " .. (typed and padded(row[2], type_width) .. "  " or "") .. row[3]
    add(lines, ((" "):rep(indent) .. line:gsub("%s+$", "")))
  end
end

local function field_rows(fields)
  local rows = {}
  for _, f in ipairs(fields) do rows[#rows + 1] = { f.name .. (f.optional and "?" or ""), f.type, f.text } end
  return rows
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
    local fields = docs.fields((p.type:gsub("[%?%[%]]", "")))
    if fields and #fields > 0 then
      add(lines, "\nFields of " .. p.name)
      add_columns(lines, field_rows(fields), 2)
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

-- A function of the core: its row has the description, its C++ signature the types.
local function written_row(path, row, getter)
  local names, rows, results, arrow = {}, {}, {}, false
  for name in row.arguments:gmatch "[^,%s]+" do names[#names + 1] = name end
  for i, kind in ipairs(row.types) do
    if kind == "->" then arrow = true
    elseif arrow then results[#results + 1] = kind
    elseif names[i] ~= "self" then rows[#rows + 1] = { names[i] or "?", (kind:gsub("%?$", "")), "" } end
  end
  local lines, shown = {}, {}
  for i, r in ipairs(rows) do shown[i] = r[1] end
  add(lines, path .. (getter and "" or "(" .. table.concat(shown, ", ") .. ")"))
  add(lines, "\n" .. row.doc)
  if #rows > 0 then
    add(lines, "\nArguments")
    add_columns(lines, rows, 2)
  end
  if #results > 0 then add(lines, "\nReturns\n  " .. table.concat(results, ", ")) end
  return table.concat(lines, "\n")
end

local function written_function(path, f, getter)
  local item, source, line = docs.item(f)
  if item then return written_item(path or item.name, item, source) end
  local row = core.describe(f)
  if row then return written_row(path or row.name, row, getter) end
  if source then return ("%s\n\n(no documentation)\n\n%s:%d"):format(path or "function", source, line) end
  return (path or "function") .. "\n\n(no documentation: a function of Lua's or of a library in C)"
end

-- A full stop within brackets, or after one of these, ends no sentence.
local abbreviations = { Eq = true, Eqs = true, al = true, g = true, e = true, Fig = true }

local function first_sentence(text)
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

local function summary(value)
  if type(value) == "table" then return "" end
  local item = docs.item(value)
  if item then return first_sentence(item.text) end
  local row = core.describe(value)
  return row and first_sentence(row.doc) or ""
end

-- The same of a metric whose words the registry has.
local function metric_summary(name)
  local text = metrics.written(name)
  return text and first_sentence(text:match "\n\n(%S.*)$" or "") or ""
end

local function header_of(module)
  for name, loaded in next, package.loaded do
    if rawequal(loaded, module) then
      local stem = name:gsub("%.", "/")
      local read = docs.of_source("stdlib/" .. stem .. ".lua") or docs.of_source("stdlib/" .. stem .. "/init.lua")
      if read and read.header ~= "" then return read.header end
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
    if kind == "function" then
      local own = summary(value)
      if own == "" and rawequal(module, package.loaded["moonrank.metrics"]) then own = metric_summary(name) end
      rows[#rows + 1] = { name, "", own }
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
  if type(entry.value) == "function" then return written_function(entry.path, entry.value, entry.getter) end
  return written_table(entry.path, entry.value)
end

local function everything()
  local root = require("moonrank")
  local all = walk(root, "mr")
  for _, method in ipairs(methods()) do all[#all + 1] = method end
  return all, root
end

-- What a class is, its fields and its methods, or nil where none is known.
local function written_class(name, all)
  local rows, declared = {}, docs.class(name)
  for _, entry in ipairs(all) do
    local member = entry.path:sub(1, #name) == name and entry.path:sub(#name + 1):match "^[:.][%w_]+$"
    if member and (entry.item or entry.value) then
      rows[#rows + 1] = { member, "", entry.item and first_sentence(entry.item.text) or summary(entry.value) }
    end
  end
  local fields = declared and docs.fields(name) or {}
  if #rows == 0 and #fields == 0 then return nil end
  local lines = { name }
  if declared and declared.text ~= "" then add(lines, "\n" .. declared.text) end
  if #fields > 0 then
    add(lines, "\nFields")
    add_columns(lines, field_rows(fields), 2)
  end
  if #rows > 0 then
    add(lines, #fields > 0 and "\nMethods" or "")
    add_columns(lines, rows, 2)
  end
  return table.concat(lines, "\n")
end

-- Everything that has words, for the search.
local function documents(all)
  local found = {}
  local function put(path, short, text, parts) found[#found + 1] = { path = path, summary = short, text = text, parts = parts } end
  for _, entry in ipairs(all) do
    local item = entry.item or type(entry.value) == "function" and docs.item(entry.value) or nil
    local parts = {}
    for _, p in ipairs(item and item.params or {}) do
      parts[#parts + 1] = p
      local fields = docs.fields((p.type:gsub("[%?%[%]]", ""))) or {}
      table.move(fields, 1, #fields, #parts + 1, parts)
    end
    local short = item and first_sentence(item.text) or type(entry.value) == "function" and summary(entry.value)
      or first_sentence(header_of(entry.value) or "")
    put(entry.path, short, written(entry), parts)
  end
  for _, name in ipairs(docs.class_names()) do
    local text = written_class(name, all)
    local class, fields = docs.class(name), docs.fields(name) or {}
    local short = class and first_sentence(class.text) or ""
    for i, field in ipairs(short == "" and fields or {}) do short = short .. (i == 1 and "Fields: " or ", ") .. field.name end
    if text then put(name, short, text, fields) end
  end
  for _, name in ipairs(bounds.names()) do
    local text = bounds.written(name)
    put(("bound %q"):format(name), text:match "bounded value: ([^\n]*)" or "", text)
  end
  for _, name in ipairs(metrics.names()) do put(("metric %q"):format(name), metric_summary(name), metrics.written(name)) end
  return found
end

-- All that there is: parts and functions, then the names of classes, bounds and metrics.
local function written_root(root)
  local lines = { written_table("mr", root) }
  local function list(what, names)
    local rows = { "" }
    for i, name in ipairs(names) do
      if #rows[#rows] + #name > 110 then rows[#rows + 1] = "" end
      rows[#rows] = rows[#rows] .. name .. (i < #names and ", " or "")
    end
    add(lines, ("%s (moonrank doc NAME)\n  %s"):format(what, (table.concat(rows, "\n  "):gsub(" +%f[\n]", ""))))
  end
  list("Classes", docs.class_names())
  list("Bounds", bounds.names())
  list("Metrics", metrics.names())
  return table.concat(lines, "\n\n")
end

-- Whether a path is meant by a topic: equal, or its end at a dot or colon ("ndcg" means mr.metrics.ndcg and mr.losses.ndcg).
local function means(path, topic)
  if path == topic then return true end
  local before = path:sub(-#topic - 1, -#topic - 1)
  return path:sub(-#topic) == topic and (before == "." or before == ":")
end

-- Names that a mistyped one may be meant as: ends, then whole paths.
local function known_names(all)
  local names, seen = {}, {}
  local function put(name)
    if not seen[name] then names[#names + 1] = name end
    seen[name] = true
  end
  for _, entry in ipairs(all) do
    put(entry.path:match "[^.:]+$")
    put(entry.path)
  end
  for _, of in ipairs{ bounds.names(), docs.class_names() } do
    for _, name in ipairs(of) do put(name) end
  end
  return names
end

-- Where no name is the topic: what has its words.
local function searched(topic, all)
  local near = check.nearest(topic, known_names(all))
  local message = ("nothing is called '%s'%s"):format(topic, near and (", did you mean '%s'?"):format(near) or "")
  local hits = search.find(documents(all), topic)
  if #hits == 0 then error(message, 0) end
  return message .. (near and "" or ".") .. " Found in:\n\n" .. search.written(hits)
end

-- What is called so: classes, functions, methods, bounds, metrics. Of a metric with parameters, "ndcg@10", only what measures it.
local function named(topic, all)
  local of_metric, base = metrics.written(require("moonrank.data.retrieved").own_name(topic))
  local measuring = base and "mr.metrics." .. base
  local parts, class = {}, topic:match "^mr%." and topic or "mr." .. topic
  if class:match "^mr%.%u" or docs.class(class) then add(parts, written_class(class, all)) end
  for _, entry in ipairs(all) do
    -- a metric without words of its own has those of the registry
    local wordless = of_metric and type(entry.value) == "function" and not docs.item(entry.value)
    local is_meant = means(entry.path, topic) or entry.path == measuring
    if is_meant and not wordless then add(parts, written(entry)) end
  end
  add(parts, bounds.written(topic))
  add(parts, of_metric)
  if topic:match "^%l+$" and topics.class(topic) then add(parts, written_class(topics.class(topic), all)) end  -- fold, run
  return parts
end

-- What a name means as scripts write it: with calls and indices, after the variable that has the value.
local function meant(topic, all)
  local plain = topics.plain(topic)
  if plain == "" or plain:find "%s" then return {} end
  local parts = plain ~= topic and named(plain, all) or {}
  if #parts > 0 then return parts end
  local member = topics.member(plain, all)
  if member then return { member.entry and written(member.entry) or topics.written(member) } end
  local last = plain:match "^[%a_][%w_]*[.:]([%w_]+)$"  -- a variable of the script's own, x.grad, or what is a method here, mr.relu
  return last and named(last, all) or {}
end

---The documentation of everything that a name means: functions, classes, methods, fields, options, bounds and metrics, as scripts write them, too.
---Where nothing has the name, a list of what has its words in a name, an option or the text, the best first.
---@param topic string   `ndcg`, `metrics.ndcg`, `ndcg@10`, `mr.Tensor:sum`, `fold.train`, `fit.patience`, `minmax`, `learning rate`
---@return string        raises where nothing has these words, and offers the nearest name
---Example: `(require "moonrank.help".about("mr.has_cuda"):match "^[^\n]*")   --> mr.has_cuda()`
---Example: `(require "moonrank.help".about("fold:evaluate{}"):match "^[^\n]*")   --> mr.Fold:evaluate(model, metrics, options)`
function M.about(topic)
  local all, root = everything()
  local _ = root.bounds  -- fills the registry
  if topic == "mr" or topic == "moonrank" then return written_root(root) end
  local parts = named(topic, all)
  if #parts == 0 then parts = meant(topic, all) end
  local plain = topics.plain(topic)
  if #parts == 0 then return searched(plain ~= "" and plain or topic, all) end
  return table.concat(parts, "\n\n" .. ("-"):rep(40) .. "\n\n")
end

---The documentation of a value: a function, a module, or a name as for `about`.
---@param value any
---@return string
---Example: `require "moonrank.help".of(mr.args):match "^[%w.]+"   --> mr.args`
function M.of(value)
  if type(value) == "string" then return M.about(value) end
  local all, root = everything()
  if rawequal(value, root) then return M.about "mr" end
  for _, entry in ipairs(all) do
    if entry.value ~= nil and rawequal(entry.value, value) then return written(entry) end
  end
  if type(value) == "function" then return written_function(nil, value) end
  local meta = debug.getmetatable(value)
  local class = type(meta) == "table" and rawget(meta, "__name")
  local text = class and written_class(class, all)
  if text then return text end
  if type(value) == "table" then return written_table(nil, value) end
  return ("%s: a %s"):format(tostring(value), type(value))
end

---Prints the documentation of a value or a name; without one, a list of all.
---@param value? any
---Example: `require "moonrank.help".help == mr.help   --> true`
function M.help(value)
  print(M.of(value == nil and require("moonrank") or value))
end

return M
