-- The code and the values on which the trials of a study depend, as lines of text that a later run compares with its own:
--   function PATH DIGEST   a Lua function, reached by this path: the tokens of its text, so that comments and white space do not count
--   value PATH = VALUE     a captured number, text or flag; a tensor or data by its content; a function of the library by its name
--   table PATH DIGEST      a captured table by its content
--   module NAME DIGEST     a module that was loaded when the study began, by the tokens of its file
--   loaded module NAME DIGEST, loaded file PATH DIGEST   what a trial loaded
--   unseen PATH: WHY       something that cannot be compared, so that the whole script counts
-- From the trial's function the walk follows upvalues, the globals that a function names, and tables.
local core = require "moonrank.core"
local check = require "moonrank.check"
local definitions = require "moonrank.definitions"
local fingerprint = require "moonrank.data.fingerprint"
local lexer = require "moonrank.lexer"
local record = require "moonrank.record"

local M = {}

local rule = "rule 2: tokens"  -- the first line; texts of earlier versions begin otherwise

local function digest(text) return core.sha256(text):sub(1, 16) end

local function is_stdlib(f) return type(f) == "function" and debug.getinfo(f, "S").source:find("@stdlib/", 1, true) == 1 end

local texts = {}  -- by text its tokens, and its stripped bytecode

local function read(text)
  if texts[text] then return texts[text] end
  local plain = text:gsub("^\xEF\xBB\xBF", ""):gsub("^#[^\n]*", "")
  local chunk, tokens = load(plain, "=text"), lexer.tokens(plain)
  if #tokens > 0 and tokens[#tokens].kind == "open" then table.remove(tokens) end  -- a comment that ends with the text
  texts[text] = { tokens = tokens, bytes = chunk and string.dump(chunk, true) or "" }
  return texts[text]
end

local function join(tokens, first, last)
  local parts = {}
  for i = first, last do parts[#parts + 1] = tokens[i].text end
  return table.concat(parts, "\0")
end

local function file_digest(path, text)
  local file <close> = not text and core.is_file(path) and io.open(path, "rb") or nil
  local tokens = (text or file) and read(text or file:read "a").tokens
  return tokens and digest(join(tokens, 1, #tokens)) or "missing"
end

-- A function as text, and the names of variables in it. A function whose text is not known is its bytecode.
local function code_of(f)
  local info, bytes, variables, parts = debug.getinfo(f, "S"), string.dump(f, true), {}, {}
  local path = info.source:match "^@(.*)"
  if path then core.remember_source(path) end
  local text = path and core.sources[path] or not info.source:match "^[=@]" and info.source
  -- the file may have been changed since: the bytecode of the text has that of the function in it, without the header of a chunk
  if text and read(text).bytes:find(bytes:sub(33), 1, true) then
    local tokens = read(text).tokens
    for _, span in ipairs(info.what == "main" and { { 1, #tokens } } or lexer.functions(tokens, info.linedefined, info.lastlinedefined)) do
      parts[#parts + 1] = join(tokens, span[1], span[2])
      for i = span[1], span[2] do
        local is_field = i > 1 and (tokens[i - 1].text == "." or tokens[i - 1].text == ":")
        if tokens[i].kind == "name" and not is_field then variables[tokens[i].text] = true end
      end
    end
  end
  if #parts > 0 then return table.concat(parts, "\0\0"), variables end
  for word in bytes:gmatch "[%a_][%w_]*" do variables[word] = true end
  return bytes, variables
end

-- By value the names of tables and functions of Lua and of the library; by name functions that a script put in their place.
local function own_values()
  local names, replaced = { [_G] = "_G", [io.stdout] = "io.stdout", [io.stderr] = "io.stderr", [io.stdin] = "io.stdin" }, {}
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

---@class mr.sweep.Reached
local Reached = check.class("mr.sweep.Reached")

local function add(self, form, ...) self.lines[#self.lines + 1] = form:format(...) end

local plain_kinds = { number = true, string = true, boolean = true }

local function plain_text(value)
  if type(value) == "string" then return value:match "^[%g ]*$" and #value <= 60 and ('"%s"'):format(value) or "text " .. digest(value) end
  if math.type(value) ~= "float" then return tostring(value) end
  local short = ("%.15g"):format(value)
  return (tonumber(short) == value and short or ("%.17g"):format(value)) .. (short:find "^-?%d+$" and ".0" or "")
end

local longest_path = 240

-- The path of an entry. What is nested deeply has a digest in the place of the end of a long path.
local function path_of(path, key)
  local longer = type(key) == "string" and key:match "^[%w_]+$" and path .. "." .. key or ("%s[%s]"):format(path, plain_text(key))
  return #longer <= longest_path and longer or ("%s...%s"):format(longer:sub(1, longest_path // 2), digest(longer))
end

local function reached(own, brief, seen, is_apart)
  local fields = { lines = {}, seen = seen, own = own, brief = brief, waiting = {}, digests = {}, is_apart = is_apart or false }
  return setmetatable(fields, Reached)
end

-- What one key that is an object is, apart from all else, or its value. Keys that are objects within it count by their kind: they may lead back to
-- it, and in a graph each would lead to all.
function Reached:apart(value)
  if plain_kinds[type(value)] then return plain_text(value) end
  if self.is_apart then return self.seen[value] or type(value) end
  if not self.digests[value] then
    local other = reached(self.own, self.brief, setmetatable({}, { __index = self.seen }), true)
    other:value("", value)
    other:settle(0)
    self.digests[value] = digest(table.concat(other.lines, "\n"))
  end
  return self.digests[value]
end

local most_named = 16  -- fields of a table that have lines of their own; of more there is one digest, and the lines of functions

function Reached:contents(path, t)
  local keys, by_object, plain, outer, inner = {}, {}, {}, self.lines, {}
  for key, value in next, t do
    if plain_kinds[type(key)] then keys[#keys + 1] = key else by_object[#by_object + 1] = self:apart(key) .. self:apart(value) end
  end
  table.sort(keys, function(a, b)
    if type(a) ~= type(b) then return type(a) < type(b) end
    if type(a) == "boolean" then return b and not a end
    return a < b
  end)
  if #keys > most_named then self.lines = inner end
  local mark = #self.waiting
  for _, key in ipairs(keys) do self:value(path_of(path, key), rawget(t, key)) end
  if #keys > most_named then self:settle(mark) end
  self.lines = outer
  for _, line in ipairs(inner) do table.insert((line:match "^function " or line:match "^unseen ") and outer or plain, line) end
  table.sort(by_object)
  add(self, "table %s %s", path, digest(("%d\n%s\n%s"):format(#keys, table.concat(by_object), table.concat(plain, "\n"))))
end

function Reached:table(path, t)
  local meta = debug.getmetatable(t)
  if type(meta) ~= "table" then return self:contents(path, t) end
  local is_ours = is_stdlib(rawget(meta, "__index")) or is_stdlib(rawget(meta, "__tostring"))
  local class = is_ours and rawget(meta, "__name")
  if class == "mr.Args" or rawget(meta, "__mode") then return end  -- options are compared as `settings`; what a cache has is chance
  if class == "mr.Results" then return add(self, "value %s = results of %s", path, plain_text(t.name)) end
  if is_ours and rawget(meta, "__made_by") then return self:func(path, meta.__made_by, true) end
  local is_data = type(class) == "string" and class:match "^mr%." and check.field(t, "get_fingerprint")
  if is_data then return add(self, "value %s = %s", path, self.brief and class or fingerprint.of(t)) end
  self:contents(path, t)
  if not is_ours and not self.own[meta] then self:value(path .. " metatable", meta) end
end

function Reached:userdata(path, x)
  local meta = debug.getmetatable(x)
  local class = type(meta) == "table" and rawget(meta, "__name")
  if type(class) ~= "string" or not class:match "^mr%." then return add(self, "unseen %s: a %s", path, class or "userdata") end
  local text = tostring(x):find "0x%x+" and class or tostring(x):match "[^\n]*"
  if self.brief then text = class
  elseif check.is_tensor(x) then text = ("tensor %s %s"):format(x.dtype, core.fingerprint_of_tensor(x))
  elseif check.is_lists(x) then text = "lists " .. core.fingerprint_of_lists(x)
  elseif class == "mr.Metric" then text = ("%s{%s}"):format(text, record.fields(x.options))
  elseif class == "mr.OptimizerState" then text = "optimizer " .. self:apart({ core.optimizer_numbers(x) }) end
  add(self, "value %s = %s", path, core.safe_text(text))
end

-- A function. One of the library, e.g. in a loss, counts by the functions of the script that it holds, or by all that it holds.
function Reached:func(path, f, all)
  local info, ours, environment, variables = debug.getinfo(f, "Su"), is_stdlib(f), nil, nil
  if info.what == "C" then return add(self, "unseen %s: a function of another library", path) end
  if not ours then
    local text
    text, variables = code_of(f)
    add(self, "function %s %s", path, digest(text))
  end
  for i = 1, info.nups do
    local name, value = debug.getupvalue(f, i)
    if name == "_ENV" then environment = value
    elseif not ours or (all or type(value) == "function") and not self.own[value] then self:value(path_of(path, name), value) end
  end
  if not ours and type(environment) == "table" then self:globals(environment, variables) end
end

-- The globals that a function names; all of the script's where it names their table.
function Reached:globals(environment, variables)
  local all = variables._G or variables._ENV
  for _, name in ipairs(check.names(all and environment or variables)) do
    local value, path = rawget(environment, name), path_of("global", name)
    if value == nil and environment ~= _G then value = select(2, check.attempt(function() return environment[name] end)) end
    if name == "arg" then value = not all and { table.unpack(value) } or nil end  -- without the program's name
    if value ~= nil and not self.own[value] and not self.seen[path] then
      self.seen[path] = true
      self:value(path, value)
    end
  end
end

-- Values wait for their turn in a list, since tables may be nested deeper than calls.
function Reached:value(path, value)
  if value ~= nil then self.waiting[#self.waiting + 1] = { path, value } end
end

-- Visits what waits after the first `mark`, each with all that it holds before the next one.
function Reached:settle(mark)
  local waiting, first = self.waiting, mark + 1
  while true do
    for i = 0, (#waiting - first - 1) // 2 do
      waiting[first + i], waiting[#waiting - i] = waiting[#waiting - i], waiting[first + i]
    end
    if #waiting == mark then return end
    local last = table.remove(waiting)
    first = #waiting + 1
    self:visit(last[1], last[2])
  end
end

function Reached:visit(path, value)
  local kind = type(value)
  if plain_kinds[kind] then return add(self, "value %s = %s", path, plain_text(value)) end
  local known = self.own[value] or self.seen[value]
  if known then return add(self, "value %s = %s", path, known) end
  self.seen[value] = path
  if kind == "thread" then return add(self, "unseen %s: a coroutine", path) end
  self[kind == "function" and "func" or kind](self, path, value)
end

local by_trials = {}  -- modules that trials of this process loaded

---Begins to watch what a trial loads.
function M.watch() core.loads = {} end

---What a trial loaded since `watch`: digests by "module NAME" or "file PATH".
---@return table<string, string>
function M.loaded()
  local loaded = {}
  for path, name in pairs(core.loads) do
    if core.is_file(path) then loaded[name] = file_digest(path) end
    by_trials[name] = true
  end
  return loaded
end

-- The lines of a text by kind and path, and these keys in order.
local function parsed(text)
  local keys, by_key = {}, {}
  for line in text:gmatch "[^\n]+" do
    local key, rest = line:match "^(value .-) = (.*)$"
    if not key then key, rest = line:match "^(.*) (%S+)$" end
    key = key or line
    local plain = key:gsub("^loaded ", "")
    keys[#keys + 1] = plain
    by_key[plain] = { rest = rest, line = line, loaded = plain ~= key, is_file = plain:match "^module " or plain:match "^file " }
  end
  return keys, by_key
end

local function lines_of(run, space, brief)
  local own, replaced = own_values()
  local self = reached(own, brief, {})
  self.lines[1] = rule
  self:value("run", run)
  for _, entry in ipairs(space and space:entries() or {}) do
    local named = rawget(entry.part, "named") or {}
    for _, key in ipairs(check.names(named)) do self:value(path_of("space." .. entry.name, key), named[key]) end
  end
  for _, named in ipairs{ definitions.all, replaced } do
    for _, name in ipairs(check.names(named)) do self:value(name, named[name]) end
  end
  self:settle(0)
  for _, name in ipairs(check.names(core.modules)) do
    local key, path = "module " .. name, core.modules[name]
    if package.loaded[name] ~= nil then
      add(self, "%s%s %s", by_trials[key] and "loaded " or "", key, file_digest(path, core.sources[path]))
    end
  end
  return self.lines
end

local left = {}  -- by the code of a trial's function and a line what the line was before trials of this process changed it; false: not there

---What the trials of a study depend on; what trials of this process changed is what it was before.
---@param run function
---@param space? mr.sweep.Space
---@param brief? boolean  without reading data
---@return string
---Example: `require("moonrank.sweep.code").of(function() return 1 end):match "function run"   --> function run`
function M.of(run, space, brief)
  local all, lines = lines_of(run, space, brief or false), {}
  for _, line in ipairs(all) do
    local was = left[all[2] .. line]
    lines[#lines + 1] = was == nil and line or was or nil
  end
  return table.concat(lines, "\n")
end

---Remembers what trials that ran in this process changed.
---@param before string  from `of`, before they ran
function M.settle(run, space, before)
  local all, before_keys, was = lines_of(run, space, false), parsed(before)
  local keys, now = parsed(table.concat(all, "\n"))
  for _, key in ipairs(keys) do
    local at = all[2] .. now[key].line
    if was[key] and was[key].rest ~= now[key].rest then left[at] = was[key].line
    elseif not was[key] and not now[key].is_file then left[at] = false end
  end
  local removed = { all[2] }
  for _, key in ipairs(before_keys) do
    if not now[key] then removed[#removed + 1] = was[key].line end
  end
  left[all[2] .. all[2]] = table.concat(removed, "\n")
end

-- The digest now of a module or a file in a study's text.
local function digest_now(key, entry)
  local name = key:match "^module (.*)"
  return entry.loaded and file_digest(name and package.searchpath(name, package.path) or key:match "^file (.*)" or "") or entry.rest
end

local most_said = 12

---What changed, a line for each; nil where nothing did.
---@param was string  a study's text in the store
---@param now string  the text of this run
---@return string?
function M.changes(was, now)
  if was:sub(1, #rule) ~= rule then
    return "  its code cannot be compared: an earlier version of moonrank recorded it in another form"
  end
  local out, keys, old = {}, parsed(was)
  local new_keys, new = parsed(now)
  for _, key in ipairs(keys) do
    local rest = new[key] and new[key].rest
    if not rest and old[key].is_file then rest = digest_now(key, old[key]) end
    if not rest then out[#out + 1] = key .. " was removed"
    elseif rest ~= old[key].rest and key:match "^value " then out[#out + 1] = ("%s: then %s, now %s"):format(key, old[key].rest, rest)
    elseif rest ~= old[key].rest then out[#out + 1] = key .. (rest == "missing" and " is missing" or " changed") end
  end
  for _, key in ipairs(new_keys) do
    if not old[key] and not new[key].is_file then out[#out + 1] = key .. " is new" end
  end
  if #out > most_said then out[most_said + 1] = ("... and %d more"):format(#out - most_said) end
  return #out > 0 and core.safe_text("  " .. table.concat(out, "\n  ", 1, math.min(#out, most_said + 1)), true) or nil
end

---A study's text with the modules and files that `was` has beside it, and those that a trial loaded.
---@param now string
---@param was? string
---@param loaded? table<string, string>  of `loaded`
---@return string
function M.joined(now, was, loaded)
  local lines, _, known = { now }, parsed(now)
  local keys, old = parsed(was and was:find(rule, 1, true) == 1 and was or rule)
  for _, key in ipairs(keys) do
    if old[key].is_file and not known[key] then lines[#lines + 1] = ("loaded %s %s"):format(key, digest_now(key, old[key])) end
  end
  for _, key in ipairs(check.names(loaded or {})) do
    if not known[key] then lines[#lines + 1] = ("loaded %s %s"):format(key, loaded[key])
    elseif known[key].rest ~= loaded[key] then
      check.fail("mr.sweep: the %s changed while the study ran, so that its trials are not of one program. Run the sweep again", key)
    end
  end
  return table.concat(lines, "\n")
end

return M
