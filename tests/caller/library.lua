-- Makes random calls of the library: takes the examples of its documentation, and changes one or two of their values.
local core = require "moonrank.core"
local luacats = require "moonrank.help.luacats"
local mr = require "moonrank"

local here = debug.getinfo(1, "S").source:match "^@(.*/)" or ""
local session = dofile(here .. "session.lua")

local M = {}

-- limits of one call: seconds of CPU time, and seconds for a script that waits for its calls
local slow, longest = 5.0, 2.0

local wild = { "nil", "false", "true", "{}", "{{}}", "'x'", "''", "'\\0'", "0", "-1", "1", "2", "0.5", "-0.0",
  "0/0", "1/0", "-1/0", "1e308", "1e-320", "1 << 31", "2^53", "1 << 62", "math.maxinteger", "math.mininteger", "print",
  "mr", "mr.tensor{}", "mr.tensor{1, 0/0}", "mr.lists{}", "mr.lists{{1, 0}}", "mr.zeros(0, 3)",
  "mr.tensor({1, 2}, {dtype = 'int64'})", "io.stdout",
  "setmetatable({}, {__index = error})", "{1, nil, 3}", "{x = 1}", "('x'):rep(100000)", "'\\255'", "'ndcg@0'",
  "'fifo'", "'folder'", "'new'", "{0/0}", "function() error 'x' end", "coroutine.create(print)",
  '"\'all\' of 50 %"', '"100%"' }

---The examples of all documented functions, as chunks of Lua.
---@return { name: string, code: string }[]
function M.examples()
  local list, names = {}, core.embedded_names()
  table.sort(names)
  for _, name in ipairs(names) do
    for _, item in ipairs(name:match "^stdlib/moonrank/" and luacats.parse(core.stdlib_text(name)).items or {}) do
      for _, example in ipairs(item.examples) do
        local code = example:gsub("%s*%-%->[^\n]*", "")
        -- examples that load internal modules by `require` are left out, because these do not check their arguments
        if not code:find "require" then list[#list + 1] = { name = item.name, code = code } end
      end
    end
  end
  return list
end

-- Returns the places of numbers, strings, brackets and library names in a piece of code, as {first byte, last byte}.
local function spans(code)
  local found = {}
  for _, pattern in ipairs{ "()%f[%w]%d+%.?%d*()", '()"[^"\n]*"()', "()%b{}()", "()%b()()", "()%f[%a]mr%.[%a_.]+()" } do
    for from, to in code:gmatch(pattern) do found[#found + 1] = { from, to - 1 } end
  end
  return found
end

---A code with one value replaced by a wild one, or by one that stands elsewhere in it.
---@param random fun(n: integer): integer
---@param code string
---@return string
function M.changed(random, code)
  local all = spans(code)
  if #all == 0 then return code end
  local at = all[random(#all)]
  local text = wild[random(#wild)]
  if random(4) == 1 then
    local other = all[random(#all)]
    text = code:sub(other[1], other[2])
  end
  if code:sub(at[1], at[1]) == "(" then text = "(" .. text .. ")" end
  return code:sub(1, at[1] - 1) .. text .. code:sub(at[2] + 1)
end

-- Compiles example code that is an expression, statements, or statements followed by an expression in the last line.
local function compiled(code, scope)
  local chunk = load("return " .. code, "=example", "t", scope) or load(code, "=example", "t", scope)
  if chunk then return chunk end
  local statements, last = code:match "^(.*)\n([^\n]*)$"
  return statements and load(statements .. "\nreturn " .. last, "=example", "t", scope)
end

local draws = pcall(core.gnuplot, "")

-- Returns a value as text. A figure is also drawn, to find errors in the script for gnuplot.
local function shown(value)
  local text = tostring(value)
  if draws and text:find "^mr.Figure" and type(value) == "table" then core.gnuplot(value:script()) end
  return text
end

-- Lua's own io.open and io.lines wait at a pipe without a writer, so examples may not open the pipe `fifo` by them.
local function not_of_a_pipe(f)
  return function(path, ...)
    if path == "fifo" then error("the example opens a pipe", 0) end
    return f(path, ...)
  end
end
local files = setmetatable({ open = not_of_a_pipe(io.open), lines = not_of_a_pipe(io.lines) }, { __index = io })

---Environment in which recorded lines run: try(name, code) runs an example.
function M.replay()
  local worked, found = {}, {}
  local function try(name, code)
    local scope = setmetatable({ mr = mr, io = files, print = function() end }, { __index = _G })
    local chunk = compiled(code, scope)
    if not chunk then return end
    local began, spent = core.clock(), os.clock()
    debug.sethook(function()
      if core.clock() - began > longest then error("the example takes long", 0) end
    end, "", 10000)
    local ok, said = pcall(chunk)
    if ok and said ~= nil then ok, said = pcall(shown, said) end
    debug.sethook()
    local took = os.clock() - spent
    if took > slow then found[#found + 1] = ("%s took %.1f s: %s"):format(name, took, code) end
    if ok then
      worked[name] = (worked[name] or 0) + 1
    elseif type(said) == "string"
      and (session.unclear(said) and said:find "^stdlib/" or said:find("gnuplot failed", 1, true)) then
      found[#found + 1] = ("%s: %s: %s"):format(name, core.safe_text(said), code)
    end
  end
  local scope = setmetatable({ try = try }, { __index = _G })
  local function run(line) assert(load(line, "=try", "t", scope))() end
  return { worked = worked, found = found, run = run }
end

---Runs changed examples.
---@param seed integer
---@param count integer
---@param record file*  gets each before it runs
function M.calls(seed, count, record)
  local random, result, list = session.generator(seed), M.replay(), M.examples()
  for _ = 1, count do
    local each = list[random(#list)]
    local code = each.code
    for _ = 1, random(3) - 1 do code = M.changed(random, code) end
    local line = ("try(%q, %q)"):format(each.name, code):gsub("\\\n", "\\n")
    record:write(line, "\n")
    record:flush()
    result.run(line)
  end
  return result
end

---Names of what has an example.
---@return string[]
function M.names()
  local seen, names = {}, {}
  for _, each in ipairs(M.examples()) do
    if not seen[each.name] then names[#names + 1] = each.name end
    seen[each.name] = true
  end
  table.sort(names)
  return names
end

return M
