-- Tests recorded sessions at the prompt by typing them again (tests/sessions/README.md).
local core = require "moonrank.core"
local files = require "tests.support.files"
local test = require "moonrank.test"
local it, check, skip = test.it, test.check, test.skip

local program = dofile "tests/support/program.lua"
local moonrank = program.moonrank

-- Returns the typed lines of a recorded session, and the lines that it should print.
local function recorded(path)
  local typed, expected = {}, {}
  for line in io.lines(path) do
    local input = line:match "^>>? (.*)$"
    if input then typed[#typed + 1] = input else expected[#expected + 1] = line end
  end
  return table.concat(typed, "\n") .. "\n", expected
end

local function words(line)
  local found = {}
  for word in line:gmatch "%S+" do found[#found + 1] = word end
  return found
end

local function same_word(found, expected)
  local x, y = tonumber(found), tonumber(expected)
  if expected == "#" then return x ~= nil end
  if math.type(y) == "integer" then return x == y end
  if x and y then return math.abs(x - y) <= 0.01 * math.max(math.abs(y), 1e-9) end
  return found == expected
end

local function same_line(found, expected)
  local a, b = words(found), words(expected)
  if #a ~= #b then return false end
  for i, word in ipairs(a) do
    if not same_word(word, b[i]) then return false end
  end
  return true
end

-- Returns true if the printed lines from `at` on agree with the expected ones from `e` on, else false and the missing
-- line. An expected "..." stands for any lines.
local function matches(lines, at, expected, e)
  for i = e, #expected do
    if expected[i] == "..." then
      for skipped = at, #lines + 1 do
        if matches(lines, skipped, expected, i + 1) then return true end
      end
      return false, expected[i + 1] or "..."
    end
    if not lines[at] or not same_line(lines[at], expected[i]) then
      return false, ("'%s', found '%s'"):format(expected[i], tostring(lines[at]))
    end
    at = at + 1
  end
  return at > #lines, "the end"
end

local function session(path, needs)
  it(path .. " prints what was recorded, in less than a minute", function()
    if not moonrank then return skip("MOONRANK does not name the program") end
    for _, need in ipairs(needs) do
      if not need() then return skip("no MovieLens in MOONRANK_DATA or ../shared/data, or no gnuplot") end
    end
    local typed, expected = recorded(path)
    local start, lines = core.clock(), {}
    local printed = files.output(("COLUMNS=100 %s < %s 2>/dev/null"):format(moonrank, files.written(typed)))
    for line in printed:gmatch "[^\n]+" do
      if line:find "%S" then lines[#lines + 1] = line end
    end
    local ok, missing = matches(lines, 1, expected, 1)
    check(ok, ("expected %s in:\n%s"):format(tostring(missing), table.concat(lines, "\n")))
    check(core.clock() - start < 60, "took a minute or more")
  end)
end

local function has_movielens() return program.has_data "ml-latest-small" end

session("tests/sessions/a_new_bound.txt", { has_movielens, program.has_gnuplot })
