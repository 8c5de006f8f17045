-- The code and the values on which the trials of a study depend, as lines "KIND PATH tab TEXT". A later run of the
-- script compares the stored lines with its own lines. Kinds of lines:
--   function   the tokens of a Lua function's text, without comments and white space; PATH says how it is reached
--   value      a captured number, text or boolean; a tensor or data by its content; a library function by its name
--   holds      digest of everything in a table or a function, at any depth; "listed" is added if the lines below its
--              path say all of it. An object that is reached by a second path has no lines below that path
--   module     a module that was loaded when the study began, by the tokens of its file
--   loaded module, loaded file   a module or file that a trial loaded
--   unseen     something that cannot be compared, so that the whole script counts
--   option     an option of mr.args that trials can read; a change is a warning, not an error
-- The walk begins at the trial's function and follows upvalues, the globals that a function names, and tables.
local core = require "moonrank.core"
local check = require "moonrank.check"
local definitions = require "moonrank.system.definitions"
local fingerprint = require "moonrank.data.fingerprint"
local lexer = require "moonrank.prompt.lexer"
local option_names = require "moonrank.options"
local record = require "moonrank.record"

local M = {}

-- First line of the text about the code of a study's trials: the version of the text's format.
local rule = "rule 3: tokens"

local function digest(text) return core.sha256(text):sub(1, 16) end

local function is_stdlib(f)
  return type(f) == "function" and debug.getinfo(f, "S").source:find("@stdlib/", 1, true) == 1
end

local tokens_by_text = {}

local function tokens_of(text)
  if not tokens_by_text[text] then
    local tokens = lexer.tokens((text:gsub("^\xEF\xBB\xBF", ""):gsub("^#[^\n]*", "")))
    local last = tokens[#tokens]
    -- a comment that is not closed at the end of the text is dropped, because comments do not count as code
    if last and last.kind == "open" then table.remove(tokens) end
    tokens_by_text[text] = tokens
  end
  return tokens_by_text[text]
end

local function join(tokens, first, last)
  local parts = {}
  for i = first, last do parts[#parts + 1] = tokens[i].text end
  return table.concat(parts, "\0")
end

local former_tokens = setmetatable({}, { __mode = "k" })

-- Returns the tokens of a text; with `round`, those with the names that options had before this round of renamings.
local function tokens_before(round, text)
  local tokens = tokens_of(text)
  if not round then return tokens end
  former_tokens[tokens] = former_tokens[tokens] or {}
  local by_round = former_tokens[tokens]
  by_round[round] = by_round[round] or require("moonrank.sweep.former_code").before(round, tokens)
  return by_round[round]
end

local function file_digest(path, text, round)
  local file <close> = not text and core.is_file(path) and io.open(path, "rb") or nil
  local tokens = (text or file) and tokens_before(round, text or file:read "a")
  return tokens and digest(join(tokens, 1, #tokens)) or "missing"
end

local operators = { ["and"] = true, ["or"] = true, ["not"] = true }
local finished = { [")"] = true, ["}"] = true, ["]"] = true, ["{"] = true, ["..."] = true, [";"] = true }

local begins = { [";"] = true, ["::"] = true, ["{"] = true }

-- Returns true if a statement continues on the next line: the line ends, or the next one begins, with an operator or
-- another symbol that joins them, such as a comma.
local function goes_on(last, first)
  return operators[last.text] or last.kind == "symbol" and not finished[last.text] or operators[first.text]
    or first.kind == "symbol" and not begins[first.text]
end

-- Returns the index of the last token of the statement that begins at token i.
local function statement_end(tokens, i)
  while tokens[i + 1] and (tokens[i + 1].line == tokens[i].line or goes_on(tokens[i], tokens[i + 1])) do i = i + 1 end
  return i
end

local constants_of_tokens = setmetatable({}, { __mode = "k" })

-- Returns, by name, where a file declares constants `local NAME <const> = ...`: the first and last token of each value.
-- Such constants are not upvalues, because Lua compiles numbers, texts and booleans into the functions that use them.
local function constants_of(tokens)
  if constants_of_tokens[tokens] then return constants_of_tokens[tokens] end
  local found = {}
  for i = 3, #tokens - 1 do
    if tokens[i].text == "const" and tokens[i - 1].text == "<" and tokens[i + 1].text == ">" then
      local name, last = tokens[i - 2].text, statement_end(tokens, i)
      found[name] = found[name] or {}
      table.insert(found[name], { i + 2, last })
    end
  end
  constants_of_tokens[tokens] = found
  return found
end

-- Returns, by name, the source text of the constants in `names`, and of the constants that such a text names in turn.
local function constants_named(tokens, names)
  local of, found, waiting = constants_of(tokens), {}, check.names(names)
  while #waiting > 0 do
    local name = table.remove(waiting)
    local parts = {}
    for _, span in ipairs(not found[name] and of[name] or {}) do
      parts[#parts + 1] = join(tokens, span[1], span[2]):gsub("\0", " ")
      for i = span[1], span[2] do
        if tokens[i].kind == "name" then waiting[#waiting + 1] = tokens[i].text end
      end
    end
    if #parts > 0 then found[name] = table.concat(parts, " or ") end
  end
  return found
end

-- Returns a function's bytecode without the header and the line numbers, which change although the code does not.
local function bytecode(f)
  return (string.dump(f, true):sub(33):gsub("^\x80[\0-\x7f]*[\x80-\xff][\0-\x7f]*[\x80-\xff]", ""))
end

-- Returns four results about a function: a digest of its source text, the variables that it names, those of them that
-- are constants, and the fields that it names. If the source is not known, the digest is of the bytecode, and the
-- function counts as naming all globals. If several functions are on the same lines, the digest includes the bytecode
-- as well. With `round`, options in the source text have their names before this round of renamings.
local function code_of(f, round)
  local info, variables, parts, fields = debug.getinfo(f, "S"), {}, {}, {}
  local path = info.source:match "^@(.*)"
  if path then core.remember_source(path) end
  local text = path and core.sources[path] or not info.source:match "^[=@]" and info.source
  local tokens = text and tokens_before(round, text)
  local spans = not tokens and {} or info.what == "main" and { { 1, #tokens } }
    or lexer.functions(tokens, info.linedefined, info.lastlinedefined)
  for _, span in ipairs(spans) do
    parts[#parts + 1] = join(tokens, span[1], span[2])
    for i = span[1], span[2] do
      local is_field = i > 1 and (tokens[i - 1].text == "." or tokens[i - 1].text == ":")
      if tokens[i].kind == "name" and not is_field then variables[tokens[i].text] = true end
      local field = is_field and tokens[i].text
        or i > 1 and tokens[i - 1].text == "[" and tokens[i].text:match "^[\"'](.*)[\"']$"
      if field then fields[field] = true end
    end
  end
  if #parts == 0 then return digest(string.dump(f, true)), { _G = true }, {}, {} end
  if #spans > 1 then parts[#parts + 1] = bytecode(f) end
  local constants = info.what == "main" and {} or constants_named(tokens, variables)
  return digest(table.concat(parts, "\0\0")), variables, constants, fields
end

-- Returns a map from tables and functions of Lua and of moonrank to their names. Also returns, by name, the functions
-- that a script has put in the place of library functions.
local function own_values()
  local replaced = {}
  local names = { [_G] = "_G", [print] = "_G.print", [io.stdout] = "io.stdout", [io.stderr] = "io.stderr",
    [io.stdin] = "io.stdin" }
  local function add(where, t)
    names[t] = where
    for _, key in ipairs(check.names(t)) do
      local f = rawget(t, key)
      local info = type(f) == "function" and debug.getinfo(f, "S")
      if info and (info.what == "C" or is_stdlib(f)) then
        names[f] = names[f] or (info.what == "C" and where or info.source) .. "." .. key
      elseif info and t ~= _G then replaced[where .. "." .. key] = f end
    end
  end
  for _, name in ipairs(check.names(package.loaded)) do
    local module = package.loaded[name]
    local is_own = name:match "^moonrank" or rawget(_G, name) == module
    if is_own and type(module) == "table" and not core.modules[name] then add(name, module) end
  end
  for _, name in ipairs(check.names(core.classes)) do
    add(name, core.classes[name].methods)
    add(name, core.classes[name].getters)
  end
  return names, replaced
end

local plain_kinds = { number = true, string = true, boolean = true }

local function plain_text(value)
  if type(value) == "string" then
    return value:match "^[%g ]*$" and #value <= 60 and ('"%s"'):format(value) or "text " .. digest(value)
  end
  if math.type(value) ~= "float" then return tostring(value) end
  local short = ("%.15g"):format(value)
  return (tonumber(short) == value and short or ("%.17g"):format(value)) .. (short:find "^-?%d+$" and ".0" or "")
end

local longest_path = 240  -- largest length of a value's path (how a script reaches it) that gets lines of its own
-- largest number of entries of a table that gets a line for each entry; a larger table gets one line
local most_named = 16
local most_nested = 10000
local most_shown = 12  -- largest number of changes that an error message lists

local function has_lines(path) return path and #path <= longest_path end

local function path_of(path, key)
  if not has_lines(path) then return nil end
  return type(key) == "string" and key:match "^[%w_]+$" and path .. "." .. key
    or ("%s[%s]"):format(path, plain_text(key))
end

---@class mr.sweep.Walk
local Walk = check.class("mr.sweep.Walk")

-- Creates a walk: an object that visits the values on which a study's trials depend, and writes a line of text for
-- each. If `outer` is given, the walk is an inner one: it can read which values the outer walk has visited, and adds to
-- its lines.
local function walk(fields, outer)
  local function of(name) return outer and setmetatable({}, { __index = outer[name] }) or {} end
  return setmetatable({ own = fields.own, brief = fields.brief, roots = fields.roots, lines = fields.lines,
    depth = fields.depth, is_private = false, options = fields.options, fields = fields.fields,
    former = fields.former, done = of "done", open = of "open", apart = {},
    is_inner = outer ~= nil }, Walk)
end

-- Adds a line about a value to the text of what a study's trials depend on. A value without a path (e.g. in a large
-- table) gets a line only if it cannot be compared with a later run. A value in a private field of a library object
-- gets no line, except for a function of the script.
function Walk:add(form, path, text)
  if form == "unseen" then path = path or "within a table" end
  local is_hidden = self.is_private and (form == "value" or form == "holds")
  if form and path and not is_hidden then self.lines[#self.lines + 1] = ("%s %s\t%s"):format(form, path, text) end
end

-- Visits a value and everything in it, and adds lines about them. Returns a text that is equal for equal contents.
function Walk:visit(path, value)
  local kind = type(value)
  local form, text, listed = "value", plain_kinds[kind] and plain_text(value) or self.own[value], nil
  if not text and self.open[value] then return ("up %d"):format(self.depth - self.open[value]) end
  if not text and self.done[value] then form, text = table.unpack(self.done[value], 1, 2) end
  if not text then
    self.open[value], self.depth = self.depth, self.depth + 1
    if self.depth > most_nested then form, text = "unseen", ("nested more than %d deep"):format(most_nested)
    elseif kind == "thread" then form, text = "unseen", "a coroutine"
    else form, text, listed = self[kind == "function" and "func" or kind](self, path, value) end
    self.open[value], self.depth = nil, self.depth - 1
    self.done[value] = { form, text }
  end
  self:add(form, path, listed and text .. " listed" or text)
  return text
end

-- Returns a text that describes the key or the value of a table entry whose key is an object, such as a table. Within
-- this object, keys that are objects are described by their type only, because in a graph each of them may lead back to
-- all the others.
function Walk:content(value)
  if plain_kinds[type(value)] then return plain_text(value) end
  if self.is_inner then return self.own[value] or type(value) end
  if not self.apart[value] then self.apart[value] = walk(self, self):visit(nil, value) end
  return self.apart[value]
end

-- Visits a value on which a study's trials depend. A private value (a field of a library object whose name begins with
-- _) gets no lines of its own; it counts only in the digest of its table.
function Walk:visit_as(is_private, path, value)
  local was = self.is_private
  self.is_private = is_private
  local text = self:visit(path, value)
  self.is_private = was
  return text
end

local as_they_are = {}

-- Describes a table on which trials depend by a digest of its contents. Private fields of a library object get no
-- lines, except for functions of the script in such fields.
function Walk:contents(path, t, meta, is_ours)
  -- Texts that earlier program versions stored for a study contain former names of options, so the text for a
  -- comparison with them is written with former names, too.
  local round = self.former.values
  local by_text, parts, written = {}, {}, round and option_names.names_before(round, t) or as_they_are
  for key, value in next, t do
    if plain_kinds[type(key)] then by_text[plain_text(written[key] or key)] = key
    else parts[#parts + 1] = self:content(key) .. "\0" .. self:content(value) end
  end
  table.sort(parts)
  local names = check.names(by_text)
  local named = #names <= most_named and path or nil
  local listed = has_lines(named) and #parts == 0
  for _, text in ipairs(names) do
    local key, is_private = by_text[text], is_ours == true and text:find '^"_' ~= nil
    listed = listed and not is_private
    local inner = path_of(named, written[key] or key)
    parts[#parts + 1] = text .. "\0" .. self:visit_as(self.is_private or is_private, inner, rawget(t, key))
  end
  if meta then parts[#parts + 1] = self:visit(path_of(path, "metatable"), meta) end
  return "holds", digest(table.concat(parts, "\0")), listed
end

-- Returns a text about the results of a study that a script captured: their name and a digest of the completed trials.
local function results_text(results)
  local store, rows = results._store, {}
  local sql = "SELECT number, params, value FROM trials WHERE study = ?1 AND state = 'done' ORDER BY number"
  for i, row in ipairs(store:rows(sql, results.study.id)) do
    rows[i] = ("%d %s %s"):format(row.number, row.params, row.value)
  end
  return ("results of %s %s"):format(plain_text(results.name), digest(table.concat(rows, "\n")))
end

function Walk:table(path, t)
  local meta = debug.getmetatable(t)
  if type(meta) ~= "table" then return self:contents(path, t) end
  local is_ours = is_stdlib(rawget(meta, "__index")) or is_stdlib(rawget(meta, "__tostring"))
  local class = is_ours and rawget(meta, "__name")
  if class == "mr.Args" then self.options[#self.options + 1] = t end
  -- Options of mr.args are left out here, because the study compares them as `settings`. A cache (a weak table) is left
  -- out, because its contents depend on when garbage is collected.
  if class == "mr.Args" or rawget(meta, "__mode") then return nil, "" end
  if class == "mr.Results" then return "value", results_text(t) end
  if class == "mr.Trial" then return "value", "a trial" end
  if is_ours and rawget(meta, "__made_by") then return self:func(path, meta.__made_by, true) end
  local is_data = type(class) == "string" and class:match "^mr%." and check.field(t, "get_fingerprint")
  if is_data then
    local text = self.brief and class or fingerprint.of(t)
    -- program versions before the first renaming of options wrote the fingerprint alone
    return "value", (self.brief or self.former.values == 1) and text or "data of fingerprint " .. text
  end
  return self:contents(path, t, not is_ours and not self.own[meta] and meta or nil, is_ours)
end

function Walk:userdata(_, x)
  local meta = debug.getmetatable(x)
  local class = type(meta) == "table" and rawget(meta, "__name")
  if type(class) ~= "string" or not class:match "^mr%." then return "unseen", "a " .. (class or "userdata") end
  local text = tostring(x):find "0x%x+" and class or tostring(x):match "[^\n]*"
  if self.brief then text = class
  elseif check.is_tensor(x) then text = ("tensor %s %s"):format(x.dtype, core.fingerprint_of_tensor(x))
  elseif check.is_lists(x) then text = "lists " .. fingerprint.of_lists(x)
  elseif class == "mr.Metric" then text = ("%s{%s}"):format(text, record.fields(x.options))
  elseif class == "mr.OptimizerState" then text = "optimizer " .. self:content({ core.optimizer_numbers(x) }) end
  return "value", core.safe_text(text)
end

-- Describes a function on which a study's trials depend. A function of the script is described by its code and the
-- values that it captured (its upvalues). A function of the library is described by the functions that it captured or,
-- with `all`, by all values that it captured.
function Walk:func(path, f, all)
  local info, ours, parts, environment, variables, constants = debug.getinfo(f, "Su"), is_stdlib(f), {}, nil, nil, {}
  if info.what == "C" then return "unseen", "a function of another library" end
  if not ours then
    local fields
    parts[1], variables, constants, fields = code_of(f, self.former.code)
    for field in pairs(fields) do self.fields[field] = true end
    self:add("function", path, parts[1])
  end
  for i = 1, info.nups do
    local name, value = debug.getupvalue(f, i)
    constants[name] = nil
    if name == "_ENV" then environment = value
    elseif value ~= nil and (not ours or (all or type(value) == "function") and not self.own[value]) then
      parts[#parts + 1] = name .. "\0" .. self:visit_as(self.is_private and ours, path_of(path, name), value)
    end
  end
  local was = self.is_private
  self.is_private = false
  for _, name in ipairs(check.names(constants)) do
    parts[#parts + 1] = name .. "\0" .. constants[name]
    self:add("value", path_of(path, name), core.safe_text(constants[name]))
  end
  self.is_private = was
  if not ours and type(environment) == "table" then self:note_globals(environment, variables) end
  return #parts > 0 and "holds" or nil, digest(table.concat(parts, "\0")), has_lines(path)
end

-- Adds the globals that a function names to the values that the walk visits later (`roots`), because trials depend on
-- them. If the function names _G or _ENV, all globals are added.
function Walk:note_globals(environment, variables)
  local all = variables._G or variables._ENV
  for _, name in ipairs(check.names(all and environment or variables)) do
    local value = rawget(environment, name)
    if value == nil and environment ~= _G then value = check.field(environment, name) end
    -- The arguments of the script count as values on which trials depend, without arg[0]. They are left out if a
    -- function names _G or _ENV.
    if name == "arg" then value = not all and { table.unpack(value) } or nil end
    if value ~= nil and not self.own[value] and not self.roots[name] then
      self.roots[name] = true
      self.roots[#self.roots + 1] = { path_of("global", name), value }
    end
  end
end

local by_trials = {}  -- modules and files that trials in this process loaded, as keys such as "module NAME"

---Starts to record which modules and files a trial loads. `loaded` returns the record. An earlier record is dropped.
function M.watch() core.loads = {} end

---Returns a digest of each module and file that a trial loaded since `watch`, by "module NAME" or "file PATH".
---@return table<string, string>
function M.loaded()
  local loaded = {}
  for path, name in pairs(core.loads) do
    if core.is_file(path) then loaded[name] = file_digest(path) end
    by_trials[name] = true
  end
  return loaded
end

local function option_text(value)
  if type(value) ~= "table" then return value == nil and "none" or plain_text(value) end
  local parts = {}
  for i, each in ipairs(value) do parts[i] = plain_text(each) end
  return table.concat(parts, ",")
end

-- Returns the options of mr.args that the visited functions read, with their values as text. Options that only say
-- where or how results are kept (`placement`) are left out, because they do not change results.
local function options_of(self)
  local found = {}
  for _, args in ipairs(self.options) do
    for _, name in ipairs(getmetatable(args).__compared) do
      if self.fields[name] then found[name] = option_text(rawget(args, name)) end
    end
  end
  return found
end

local function lines_of(run, space, brief, former)
  local own, replaced = own_values()
  local roots = { { "run", run } }
  local function add_roots(prefix, named)
    for _, name in ipairs(check.names(named)) do
      roots[#roots + 1] = { prefix and path_of(prefix, name) or name, named[name] }
    end
  end
  -- number of parameters so far with each name: branches of a space may have parameters with equal names
  local times = {}
  for _, entry in ipairs(space and space:entries() or {}) do
    times[entry.name] = (times[entry.name] or 0) + 1
    local branch = times[entry.name] > 1 and (" (branch %d)"):format(times[entry.name]) or ""
    add_roots("space." .. entry.name .. branch, rawget(entry.part, "named") or {})
  end
  add_roots(nil, definitions.all)
  add_roots(nil, replaced)
  local self = walk{ own = own, brief = brief, roots = roots, lines = { rule }, depth = 0, options = {}, fields = {},
    former = former or {} }
  -- this loop also visits globals, which functions append to `roots` while it runs
  for _, root in ipairs(roots) do self:visit(root[1], root[2]) end
  local lines = self.lines
  for _, name in ipairs(check.names(core.modules)) do
    local key, path = "module " .. name, core.modules[name]
    if package.loaded[name] ~= nil then
      key = (by_trials[key] and "loaded " or "") .. key
      lines[#lines + 1] = key .. "\t" .. file_digest(path, core.sources[path], self.former.code)
    end
  end
  local options = options_of(self)
  for _, name in ipairs(check.names(options)) do lines[#lines + 1] = ("option %s\t%s"):format(name, options[name]) end
  return lines
end

-- Parses the text that describes the code and the values on which a study's trials depend. Returns the keys (kind and
-- path) of its lines in order, and the parsed lines by key.
local function parsed(text)
  local keys, by_key = {}, {}
  for line, start, rest in text:gmatch "(([^\t\n]+)\t([^\n]*))" do
    local key = start:gsub("^loaded ", "")
    keys[#keys + 1] = key
    local whole, listed = rest:match(key:match "^holds " and "^(%x+)(.*)" or "^$")
    by_key[key] = { rest = whole or rest, line = line, loaded = key ~= start, is_listed = listed == " listed",
      is_file = key:match "^module " or key:match "^file " }
  end
  return keys, by_key
end

-- Maps the function of a study's trials to texts about code and values, before and after trials ran in this process.
local left = {}

---Returns a text of everything on which the trials of a study depend: code, captured values, modules and options of
---mr.args. The trials' function is `run`. A value that trials in this process changed appears as it was before the
---trials ran.
---@param brief? boolean  true: tensors and data count by their class only, and are not read
---@param former? mr.sweep.Former  write options with former names
---Example: `require("moonrank.sweep.code").of(function() return 1 end):match "function run"   --> function run`
function M.of(run, space, brief, former)
  local all, lines = lines_of(run, space, brief or false, former), { rule }
  local keys, entries = parsed(table.concat(all, "\n"))
  local trials = left[all[2]] or { keys = {}, was = {}, now = {} }
  for _, key in ipairs(keys) do
    local entry = entries[key]
    local is_theirs = not entry.is_file and trials.now[key] and trials.now[key].line == entry.line
    if is_theirs then entry = trials.was[key] end
    lines[#lines + 1] = entry and entry.line
  end
  for _, key in ipairs(trials.keys) do
    if not trials.now[key] then lines[#lines + 1] = trials.was[key].line end
  end
  return table.concat(lines, "\n")
end

---Records which values (variables, tables, globals) of a study's trials (function `run`) changed while trials ran in
---this process. `of` then describes these values as they were before the trials.
---@param before string  what `of` returned before the trials ran
function M.settle(run, space, before)
  local lines, keys, was = lines_of(run, space, false), parsed(before)
  left[lines[2]] = { keys = keys, was = was, now = select(2, parsed(table.concat(lines, "\n"))) }
end

-- Returns the digest of a module or file that a study's record names. If a trial loaded it, this is the digest of the
-- file's present content; otherwise it is the digest in the record. With `round`, options in the file have their names
-- before this round of renamings.
local function digest_now(key, entry, round)
  if not entry.loaded then return entry.rest end
  local name = key:match "^module (.*)"
  local path = name and package.searchpath(name, package.path) or key:match "^file (.*)" or ""
  return file_digest(path, nil, round)
end

-- Returns the keys of the "holds" lines of all tables and functions around the value at a path, innermost first.
local function holders(path)
  local keys = {}
  for at = #path, 2, -1 do
    if path:find("^[.%[ ]", at) then keys[#keys + 1] = "holds " .. path:sub(1, at - 1) end
  end
  return keys
end

-- Returns the text of a value as a message shows it: a checksum is shortened to its beginning.
local function in_words(text)
  return (text:gsub("%f[%w]" .. ("%x"):rep(64) .. "%f[%W]", function(sum) return "of checksum " .. sum:sub(1, 16) end))
end

-- Returns the differences between the stored and the current text about the code and the values on which a study's
-- trials depend. A value that only has another path now is not a difference. A table is left out if a difference is
-- reported for a value in the table. With `round`, the current text has the names of options before this round of
-- renamings.
local function differences(was, now, round)
  local keys, old = parsed(was)
  local new_keys, new = parsed(now)
  local out, holding = {}, {}
  local function is_moved(path)
    for _, key in ipairs(holders(path)) do
      if old[key] and new[key] then return old[key].rest == new[key].rest end
    end
  end
  local function compare(key)
    local path, is_file = key:match "^%l+ (.*)$", (old[key] or new[key]).is_file
    local before, after = old[key] and old[key].rest, new[key] and new[key].rest
    if is_file and not after then after = digest_now(key, old[key], round) end
    local is_whole = key:match "^holds "
    local is_said = is_whole and (holding[key] or old[key] and new[key] and old[key].is_listed and new[key].is_listed)
    local same = before == after or is_said or is_file and not before
    if same or not (before and after) and is_moved(path) then return end
    for _, holder in ipairs(holders(path .. ".")) do holding[holder] = true end
    if not after then out[#out + 1] = key .. " was removed"
    elseif not before then out[#out + 1] = key .. " is new"
    elseif key:match "^value " then
      out[#out + 1] = ("%s: then %s, now %s"):format(key, in_words(before), in_words(after))
    else
      out[#out + 1] = (is_whole and "what " .. path .. " holds" or key)
        .. (after == "missing" and " is missing" or " changed")
    end
  end
  local wholes = {}
  for _, all in ipairs{ keys, new_keys } do
    for _, key in ipairs(all) do
      if key:match "^holds " then wholes[#wholes + 1] = key
      elseif not key:match "^option " and (all == keys or not old[key]) then compare(key) end
    end
  end
  -- the longest paths come first, so that inner tables come before outer tables
  table.sort(wholes, function(a, b) return #a > #b or #a == #b and a < b end)
  for _, key in ipairs(wholes) do compare(key) end
  return out
end

---Rounds of renamings before which options have their names in a text about code and values. An earlier program version
---wrote the values, and an earlier version of the script has the code.
---@class mr.sweep.Former
---@field values? integer  for options of the library's objects; without it, they have their present names
---@field code? integer    for options in the source text of functions and modules

-- All ways in which a stored text can have former names of options, the latest first.
local formers = {}
for values = option_names.rounds + 1, 1, -1 do
  for code = option_names.rounds + 1, 1, -1 do
    local former = { values = values <= option_names.rounds and values or nil,
      code = code <= option_names.rounds and code or nil }
    if next(former) then formers[#formers + 1] = former end
  end
end

---Compares the text of a study's code and values in the store with the text of this run. Returns a text with a line for
---each of the first 12 changes and the number of further ones, or nil if nothing changed. The second result is false if
---the stored text has an older form and cannot be compared.
---@param was string  a study's text in the store
---@param now string  the text of this run
---@param before? fun(former: mr.sweep.Former): string  makes the text of this run with former names of options
---@return string? lines
---@return boolean comparable
function M.changes(was, now, before)
  if was:sub(1, #rule) ~= rule then
    return "  its code cannot be compared, because an earlier version of moonrank recorded it in another form", false
  end
  local out = differences(was, now)
  for _, former in ipairs(before and formers or {}) do
    local found = #out > 0 and differences(was, before(former), former.code) or out
    if #found < #out then out = found end
  end
  if #out == 0 then return nil, true end
  if #out > most_shown then out[most_shown + 1] = ("... and %d more"):format(#out - most_shown) end
  return core.safe_text("  " .. table.concat(out, "\n  ", 1, math.min(#out, most_shown + 1)), true), true
end

---Returns the options of mr.args in the text of a study's code and values: the value as text by name.
---@return table<string, string>
---@param text string  from `of`
---Example: `require("moonrank.sweep.code").options("option epochs\t3").epochs   --> 3`
function M.options(text)
  local found = {}
  for name, value in ("\n" .. text):gmatch "\noption ([^\t\n]+)\t([^\n]*)" do found[name] = value end
  return found
end

---Returns the text of a study's code and values, changed so that the options of mr.args that are named in `options`
---have the values in `options`. An option that the text does not contain is not added.
---@param text string                    from `of`
---@param options table<string, string>  values as text, by name
function M.with_options(text, options)
  local function line(name) return options[name] and ("\noption %s\t%s"):format(name, options[name]) end
  return (text:gsub("\noption ([^\t\n]+)\t[^\n]*", line))
end

---Returns the text `now` of a study's code and values, and adds two kinds of lines: for modules and files that only the
---earlier text `was` names, and for those that a trial loaded. It is an error if a module or file in `loaded` has
---another digest in `now`.
---@param now string
---@param was? string
---@param loaded? table<string, string>  from `loaded`: a digest by "module NAME" or "file PATH"
function M.joined(now, was, loaded)
  local lines, _, known = { now }, parsed(now)
  local keys, old = parsed(was and was:find(rule, 1, true) == 1 and was or rule)
  for _, key in ipairs(keys) do
    if old[key].is_file and not known[key] then
      lines[#lines + 1] = ("loaded %s\t%s"):format(key, digest_now(key, old[key]))
    end
  end
  for _, key in ipairs(check.names(loaded or {})) do
    if not known[key] then lines[#lines + 1] = ("loaded %s\t%s"):format(key, loaded[key])
    elseif known[key].rest ~= loaded[key] then
      check.fail("mr.sweep: the %s changed while the study ran, so its trials are of different programs. Run the sweep "
        .. "again", key)
    end
  end
  return table.concat(lines, "\n")
end

return M
