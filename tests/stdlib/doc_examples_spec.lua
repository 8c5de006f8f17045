-- Tests that every documented example of the standard library runs and gives the value that it shows.
local test = require "moonrank.test"
local core = require "moonrank.core"
local luacats = require "moonrank.help.luacats"
local mr = require "moonrank"
local repl = require "moonrank.prompt.repl"

-- Returns true if a result agrees with the documented one. Numbers are compared to the digits that the documentation
-- shows, other parts as text. Documented tensors are on the CPU; if the default device is a GPU, results are there.
local function agrees(found, expected)
  found = found:gsub("(mr%.Tensor {[%d, ]*} %l+%d+) cuda", "%1")
  local function split(text)
    local numbers = {}
    local rest = text:gsub("%-?%d+%.?%d*[eE]?[+-]?%d*", function(n)
      if not tonumber(n) then return nil end
      numbers[#numbers + 1] = n
      return "#"
    end)
    return rest:gsub("%s+", " "), numbers
  end
  local found_text, a = split(found)
  local expected_text, b = split(expected)
  if found_text ~= expected_text or #a ~= #b then return false end
  for i = 1, #b do
    local digits = b[i]:match "%.(%d+)$"
    local tolerance = digits and 0.5000001 * 10 ^ -#digits or 0
    if b[i]:match "[eE]" then tolerance = 1e-2 * math.abs(tonumber(b[i])) end
    if math.abs(tonumber(a[i]) - tonumber(b[i])) > tolerance then return false end
  end
  return true
end

-- Runs the lines of an example in order. A line with `--> value` must return or print this value.
local function run(example, where)
  local printed
  local scope = setmetatable({ mr = mr, print = function(...)
    local parts = table.pack(...)
    for i = 1, parts.n do parts[i] = tostring(parts[i]) end
    printed[#printed + 1] = table.concat(parts, "\t")
  end }, { __index = _G })
  local pending = {}
  local checks = 0
  for line in (example .. "\n"):gmatch "(.-)\n" do
    local code, expected = line:match "^(.-)%s*%-%->%s*(.-)%s*$"
    -- `local` is removed, so that later lines of the example see the variable
    pending[#pending + 1] = (code or line):gsub("^%s*local%s+([%w_, ]+=)", "%1")
    if expected then
      printed = {}
      local text = table.concat(pending, "\n")
      pending = {}
      local chunk = load("return " .. text, "=example", "t", scope)
      if not chunk then
        -- the example has statements and, in its last line, an expression
        local statements, last = text:match "^(.*)\n([^\n]*)$"
        local before = statements and load(statements, "=example", "t", scope)
        if before then
          before()
          chunk = load("return " .. last, "=example", "t", scope)
        end
      end
      chunk = chunk or assert(load(text, "=example", "t", scope))
      local results = table.pack(pcall(chunk))
      local found
      if not results[1] then
        found = tostring(results[2])
        local message = expected:match "^error:?%s*(.*)$"
        local where_and_what = ("%s: error '%s', expected %s"):format(where, found, expected)
        test.check(message and found:find(message, 1, true), where_and_what)
      else
        local parts = {}
        for i = 2, results.n do parts[#parts + 1] = repl.text(results[i]) end
        found = #printed > 0 and table.concat(printed, " ") or table.concat(parts, ", ")
        test.check(agrees(found, expected), ("%s: found %s, documented %s"):format(where, found, expected))
      end
      checks = checks + 1
    end
  end
  return checks
end

local grows, why = pcall(core.xgboost_version)  -- examples of trees need XGBoost

local names = core.embedded_names()
table.sort(names)
for _, name in ipairs(names) do
  if name:match "^stdlib/moonrank/" then
    for _, item in ipairs(luacats.parse(core.stdlib_text(name)).items) do
      for i, example in ipairs(item.examples) do
        test.it(("%s:%d example %d of %s gives the documented values"):format(name, item.line, i, item.name), function()
          if example:find("models.trees", 1, true) and not grows then return test.skip(why) end
          test.check(run(example, item.name) > 0, "the example shows no `--> value`")
        end)
      end
    end
  end
end
