-- Prints documentation in the terminal. It comes from the LuaCATS comments above Lua functions and, for functions of
-- the C++ core, from the tables in which the core registers its operations. The comment of a Lua function is found by
-- the file and line of the function's definition.
local bounds = require "moonrank.bounds.registry"
local metrics = require "moonrank.metrics.registry"
local check = require "moonrank.check"
local docs = require "moonrank.help.docs"
local entries = require "moonrank.help.entries"
local search = require "moonrank.help.search"
local in_terminal = require("moonrank.manual.formula").plain
local terminal = require "moonrank.system.terminal"
local texts = require "moonrank.manual.texts"
local topics = require "moonrank.help.topic"
local wrap = require "moonrank.help.wrap"
local M = {}

local first_sentence = entries.first_sentence

-- line of dashes between the descriptions of a name that has several meanings
local between = "\n\n" .. ("-"):rep(40) .. "\n\n"

local function add(lines, text) lines[#lines + 1] = text end

local function padded(text, width) return text .. (" "):rep(width - #text) end

local function add_columns(lines, rows, indent)
  local name_width, type_width, typed = 0, 0, false
  for _, row in ipairs(rows) do
    name_width = math.max(name_width, #row[1])
    typed = typed or row[2] ~= ""
    if #row[2] <= 24 then type_width = math.max(type_width, #row[2]) end
  end
  local group
  for _, row in ipairs(rows) do
    if row.group ~= group then
      group = row.group
      add(lines, (" "):rep(indent - 1) .. group .. ":")
    end
    local line = padded(row[1], name_width) .. "  " .. (typed and padded(row[2], type_width) .. "  " or "") .. row[3]
    add(lines, ((" "):rep(indent) .. line:gsub("%s+$", "")))
  end
end

local function field_rows(fields)
  local rows = {}
  for _, f in ipairs(fields) do
    rows[#rows + 1] = { f.name .. (f.optional and "?" or ""), f.type, f.text, group = f.group }
  end
  return rows
end

local function written_description(d)
  local lines = { d.title }
  if d.text ~= "" then add(lines, "\n" .. d.text) end
  if #d.params > 0 then
    add(lines, "\nArguments")
    add_columns(lines, field_rows(d.params), 2)
  end
  for _, p in ipairs(d.params) do
    local fields = entries.options_of(p)
    if fields and #fields > 0 then
      add(lines, "\nFields of " .. p.name)
      add_columns(lines, field_rows(fields), 2)
    end
  end
  if #d.returns > 0 then
    local returns = {}
    for i, r in ipairs(d.returns) do returns[i] = { r.type, "", r.text } end
    add(lines, "\nReturns")
    add_columns(lines, returns, 2)
  end
  for _, example in ipairs(d.examples) do
    add(lines, "\nExample")
    add(lines, "  " .. example:gsub("\n", "\n  "))
  end
  if d.source then add(lines, ("\n%s:%d"):format(d.source, d.line)) end
  return table.concat(lines, "\n")
end

local function written_function(entry)
  local described = entries.describe(entry)
  if described then return written_description(described) end
  local _, source, line = docs.item(entry.value)
  local name = entry.path or "function"
  if source then return ("%s\n\n(no documentation)\n\n%s:%d"):format(name, source, line) end
  return name .. "\n\n(no documentation: a function of Lua's or of a library in C)"
end

local function written_table(path, module)
  local lines, rows = { path or "table" }, {}
  local header = entries.header_of(module)
  if header then add(lines, "\n" .. header) end
  for _, name in ipairs(entries.members(module)) do
    local kind = type(rawget(module, name))
    if kind == "function" or kind == "table" then
      rows[#rows + 1] = { name .. (kind == "table" and "." or ""), "", entries.member_summary(module, name) }
    end
  end
  if #rows > 0 then
    add(lines, "")
    add_columns(lines, rows, 2)
  end
  return table.concat(lines, "\n")
end

local function written(entry)
  local is_function = entry.item or type(entry.value) == "function"
  return in_terminal(is_function and written_function(entry) or written_table(entry.path, entry.value))
end

-- Returns the documentation of a class as text; nil if the class has neither fields nor methods.
local function written_class(name, all)
  local rows, declared = {}, docs.class(name)
  for _, entry in ipairs(entries.class_members(name, all)) do
    rows[#rows + 1] = { entry.path:sub(#name + 1), "",
      entry.item and first_sentence(entry.item.text) or entries.summary(entry.value) }
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
  return in_terminal(table.concat(lines, "\n"))
end

local function classes_met()
  local names = {}
  for _, name in ipairs(docs.class_names()) do names[#names + 1] = not docs.is_internal(name) and name or nil end
  return names
end

-- True if a path such as "mr.Run.test" is public; false for methods and fields of classes that only the library uses.
local function is_public(path)
  local class = path:match "^(mr%.[%w_.]-%u%w*)[:.]"
  return not class or not docs.is_internal(class) and not class:match "^mr%.%l+%.%u"
end

-- Returns what the search finds: path, summary and text of each function, class, bound, metric, recipe and page.
local function documents(all)
  local found = {}
  local function put(path, short, text, parts)
    found[#found + 1] = { path = path, summary = short, text = text, parts = parts }
  end
  local function put_entry(entry)
    local item = entry.item or type(entry.value) == "function" and docs.item(entry.value) or nil
    local parts = {}
    for _, p in ipairs(item and item.params or {}) do
      parts[#parts + 1] = p
      local fields = entries.options_of(p) or {}
      table.move(fields, 1, #fields, #parts + 1, parts)
    end
    local short = item and first_sentence(item.text) or type(entry.value) == "function" and entries.summary(entry.value)
      or first_sentence(entries.header_of(entry.value) or "")
    put(entry.path, short, written(entry), parts)
  end
  for _, entry in ipairs(all) do
    if is_public(entry.path) then put_entry(entry) end
  end
  for _, name in ipairs(classes_met()) do
    local text = written_class(name, all)
    local class, fields = docs.class(name), docs.fields(name) or {}
    local short = class and first_sentence(class.text) or ""
    for i, field in ipairs(short == "" and fields or {}) do
      short = short .. (i == 1 and "Fields: " or ", ") .. field.name
    end
    if text then put(name, short, text, fields) end
  end
  for _, name in ipairs(bounds.names()) do
    local text = bounds.written(name)
    put(("bound %q"):format(name), text:match "bounded value: ([^\n]*)" or "", text)
  end
  for _, name in ipairs(metrics.names()) do
    put(("metric %q"):format(name), entries.metric_summary(name), metrics.written(name))
  end
  for _, name in ipairs(texts.recipes) do
    local recipe = texts.recipe(name)
    put(("recipe %q"):format(name), recipe.title, recipe.source)
  end
  for _, name in ipairs(texts.pages()) do
    local page = texts.page(name)
    put(("page %q"):format(name), page.title, page.text)
  end
  return found
end

-- Returns the list of all names as text: modules and functions of `mr`, then classes, bounds, metrics and texts.
local function written_root(root)
  local lines = { in_terminal(written_table("mr", root)) }
  local function list(what, names)
    local rows = { "" }
    for i, name in ipairs(names) do
      if #rows[#rows] + #name > 110 then rows[#rows + 1] = "" end
      rows[#rows] = rows[#rows] .. name .. (i < #names and ", " or "")
    end
    add(lines, ("%s (moonrank doc NAME)\n  %s"):format(what, (table.concat(rows, "\n  "):gsub(" +%f[\n]", ""))))
  end
  list("Classes", classes_met())
  list("Bounds", bounds.names())
  list("Metrics", metrics.names())
  list("Recipes", texts.recipes)
  list("Pages", texts.pages())
  return table.concat(lines, "\n\n")
end

-- Returns the names that may be proposed for a misspelt topic: full names such as "mr.losses.ndcg", the parts after
-- their last dot or colon, and names of bounds, classes and option tables.
local function known_names(all)
  local names, seen = {}, {}
  local function put(name)
    if not seen[name] then names[#names + 1] = name end
    seen[name] = true
  end
  for _, entry in ipairs(all) do
    if is_public(entry.path) then
      put(entry.path:match "[^.:]+$")
      put(entry.path)
    end
  end
  for _, of in ipairs{ bounds.names(), classes_met(), topics.option_names() } do
    for _, name in ipairs(of) do put(name) end
  end
  return names
end

-- Returns the hits of a search as text, below the topic's entry in the glossary. If there is neither hit nor entry,
-- raises an error.
local function searched(topic, all)
  local hits, term = search.find(documents(all), topic), texts.term(topic)
  if term then return in_terminal(("%s\n\nFound in:\n\n%s"):format(term, search.written(hits))) end
  local near = check.nearest(topic, known_names(all))
  local message = ("nothing is called '%s'%s"):format(topic, near and (", did you mean '%s'?"):format(near) or "")
  if #hits == 0 then error(message .. (near and "" or ". Search for another word"), 0) end
  return message .. (near and "" or ".") .. " Found in:\n\n" .. in_terminal(search.written(hits))
end

-- True if a class or an option table has this name, and it is not one that only the library uses.
local function is_public_class(name, all)
  if docs.is_option_table(name) then return true end
  return (name:match "^mr%.%u" or docs.class(name)) and entries.public_classes(all)[name]
end

-- Returns a list of texts about everything that is called `topic`. "ndcg@10" means the metric only.
local function named(topic, all)
  local of_metric, base = metrics.written(require("moonrank.data.retrieved").own_name(topic))
  local measuring = base and "mr.metrics." .. base
  local parts, class = {}, topic:match "^mr%." and topic or "mr." .. topic
  if is_public_class(class, all) then add(parts, written_class(class, all)) end
  for _, entry in ipairs(all) do
    -- a metric function without a docstring is skipped here; the metric registry's documentation is added below
    local wordless = of_metric and type(entry.value) == "function" and not docs.item(entry.value)
    local is_meant = topics.means(entry.path, topic) or entry.path == measuring
    if is_meant and not wordless then add(parts, written(entry)) end
  end
  local of_bound = bounds.written(topic)
  add(parts, of_bound and in_terminal(of_bound))
  add(parts, of_metric)
  local recipe = texts.recipe(topic)
  if recipe then add(parts, ("recipe %q\n\n%s"):format(topic, recipe.source:gsub("\n*$", ""))) end
  local page = texts.page(topic) or #parts == 0 and texts.page("guide/" .. topic)
  if page then add(parts, in_terminal((page.text:gsub("\n*$", "")))) end
  -- a lower-case topic such as `fold`, the usual name of a variable, also means the class mr.Fold
  if topic:match "^%l+$" and topics.class(topic) then add(parts, written_class(topics.class(topic), all)) end
  if #parts == 0 then
    for _, name in ipairs(topics.option_tables(topic)) do add(parts, written_class(name, all)) end
  end
  return parts
end

-- Returns texts about a name from a script, with calls (`ratings:folds{}[1]`) or after a variable (`x.grad`).
local function meant(topic, all)
  local plain = topics.plain(topic)
  if plain == "" or plain:find "%s" then return {} end
  local parts = plain ~= topic and named(plain, all) or {}
  if #parts > 0 then return parts end
  local member = topics.member(plain, all)
  if member then return { member.entry and written(member.entry) or in_terminal(topics.written(member)) } end
  -- If the full name has no documentation, look up the name after its first dot or colon: "grad" for x.grad, where x is
  -- a variable, or "relu" for mr.relu, which is a method of tensors and not a function of `mr`.
  local last = plain:match "^[%a_][%w_]*[.:]([%w_]+)$"
  return last and named(last, all) or {}
end

---Returns the documentation of everything that a name means: functions, classes, methods, fields, options, bounds,
---metrics, recipes, and pages of the manual ("guide/sweeps"). The name may be copied from a script. If nothing has this
---name, all documentation is searched for the topic's words, and the hits are listed, the best first.
---@param topic string   `ndcg`, `metrics.ndcg`, `ndcg@10`, `mr.Tensor:sum`, `fold.train`, `fit.patience`,
---   `minmax`, `learning rate`
---@return string        an error is raised, with the nearest name, if nothing contains the words
---Example: `(require "moonrank.help".text("mr.has_cuda"):match "^[^\n]*")   --> mr.has_cuda()`
---Example:
---```lua
---local text = require("moonrank.help").text("fold:evaluate{}")
---text:match "^[^\n]*"   --> mr.Fold:evaluate(model, metrics, options)
---```
function M.text(topic)
  if not topic:find "%S" then
    error("help: expected a name such as mr.fit or words to search for, got an empty text. help() shows an overview", 0)
  end
  local all, root = entries.all()
  local _ = root.bounds  -- loading the module mr.bounds registers the built-in bounds
  if topic == "mr" or topic == "moonrank" then return written_root(root) end
  local parts = named(topic, all)
  if #parts == 0 then parts = meant(topic, all) end
  -- papers write names of metrics in capitals, such as MAP and MRR@10
  local lower = topic:lower()
  if #parts == 0 and not texts.term(topic) and metrics.written(lower) then parts = named(lower, all) end
  local plain = topics.plain(topic)
  if #parts == 0 then return searched(plain ~= "" and plain or topic, all) end
  local term = texts.term(topic)
  add(parts, term and in_terminal("In the glossary: " .. term))
  return table.concat(parts, between)
end

---Returns the documentation of everything that a name means, like `text`, in lines that fit the
---terminal. The command `moonrank doc` prints this text.
---Example: `require "moonrank.help".about("mr.has_cuda"):match "^[^\n]*"   --> mr.has_cuda()`
function M.about(topic) return M.wrapped(M.text(topic)) end

---Breaks a text that M.text or M.of returned into lines that fit the terminal. Recipes are code and stay as they are.
function M.wrapped(text)
  local parts, width = {}, terminal.width()
  for part in (text .. between):gmatch("(.-)" .. between) do
    parts[#parts + 1] = part:find '^recipe "' and part or wrap.text(part, width)
  end
  return table.concat(parts, between)
end

---Returns the documentation of a function, a module, or the class of an object. A string is taken
---for a name, as by `text`.
---Example: `require "moonrank.help".of(mr.args):match "^[%w.]+"   --> mr.args`
function M.of(value)
  if type(value) == "string" then return M.text(value) end
  local all, root = entries.all()
  if rawequal(value, root) then return M.text "mr" end
  for _, entry in ipairs(all) do
    if entry.value ~= nil and rawequal(check.inner(entry.value), check.inner(value)) then return written(entry) end
  end
  if type(value) == "function" then return in_terminal(written_function{ value = value }) end
  local meta = debug.getmetatable(value)
  local class = type(meta) == "table" and rawget(meta, "__name")
  local text = class and written_class(class, all)
  if text then return text end
  if type(value) == "table" then return in_terminal(written_table(nil, value)) end
  return ("%s: a %s"):format(tostring(value), type(value))
end

---Prints the documentation of a function, a module or the class of an object. A string is taken for
---a name, or else for words to search for; it is an error if they occur nowhere. Without an argument,
---prints a list of all names.
---@param value? any
---Example: `type(mr.help)   --> function`
function M.help(value)
  print(M.wrapped(M.of(value == nil and require("moonrank") or value)))
end

return M
