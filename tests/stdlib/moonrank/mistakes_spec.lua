-- Tests the mistakes of newcomers in tests/support/mistakes.lua: what the error says, which line it names, and whether
-- the code that it proposes gives the wanted value.
local mr = require "moonrank"
local advice = require "moonrank.prompt.advice"
local test = require "moonrank.test"
local check, describe, it = test.check, test.describe, test.it

local program, sweeps = dofile "tests/support/program.lua", dofile "tests/support/sweeps.lua"
local mistakes = dofile "tests/support/mistakes.lua"

local ratings = mr.data.synthetic{ users = 40, items = 60, mean_activity = 12, seed = 1 }:binarize(4):min_relevant(2)

-- Returns variables that the code of an entry may use besides the globals.
local function names()
  return {
    mr = mr, x = mr.tensor{ 1, 2, 3 }, m = mr.tensor{ { 1, 2, 3 }, { 4, 5, 6 } },
    lists = mr.lists{ { 1, 0, 0 }, { 0, 1 } }, scores = mr.tensor{ 0.5, 0.25, 1, 0, 0.75 }:requires_grad(),
    loss = mr.losses.ap{}, ratings = ratings,
    fold = ratings:folds{ k = 4, by = "user", seed = 1, nsr = 1 }[1],
    model = mr.models.mf{ users = 40, items = 60, factors = 2 },
  }
end

local study  -- a study for some entries, made when it is first used
local function of_study()
  local function run(trial) return { ndcg = trial.lr } end
  study = study or mr.sweep{ name = "mistakes", metric = "ndcg", space = { lr = mr.choice{ 0.1, 0.2 } }, workers = 0,
    progress = false, store = os.tmpname(), run = run }
  return study
end

-- Returns the environment of an entry's code: variables of the test, and the globals of a script.
local function environment(entry)
  local of = entry.bare and {} or names()
  if not entry.bare and entry.code:find "study" then of.study = of_study() end
  return setmetatable(of, { __index = _G, __newindex = _G })
end

local function load_code(code, of) return load(code, "@script.lua", "t", of) end

-- Returns the error of an entry's code as the program shows it.
local function error_of(entry, of)
  local chunk, message = load_code(entry.code, of)
  advice.note(entry.code, "script.lua")  -- advice for a syntax error looks up the line that has the error
  if not chunk then return advice.add(message) end
  local ok
  ok, message = xpcall(chunk, advice.add)
  check(not ok, "no error")
  return tostring(message)
end

local function has(text, parts, where)
  for _, part in ipairs(parts or {}) do
    check(text:find(part, 1, true), ("%s: no '%s' in: %s"):format(where, part, text))
  end
end

local function check_words(entry, text)
  has(text, entry.says, "says")
  has(text, { entry.instead }, "instead")
  for _, part in ipairs(entry.never or {}) do
    check(not text:find(part, 1, true), ("'%s' in: %s"):format(part, text))
  end
end

local function value_of(code, of) return assert(load_code("return " .. code, of))() end

-- Checks that the code which the error recommends gives the wanted value.
local function check_instead(entry)
  if not entry.gives then return end
  local of = setmetatable(environment(entry), { __index = _G })
  of.mr = mr
  local found, wanted = value_of(entry.runs or entry.instead, of), value_of(entry.gives, of)
  if type(wanted) == "number" or type(wanted) == "table" or type(wanted) == "userdata" then
    if type(wanted) == "table" then wanted = mr.tensor(wanted) end
    if type(found) == "table" then found = mr.tensor(found) end
    if type(wanted) == "userdata" then test.equal(found:shape(), wanted:shape()) end
    return test.near(found, wanted, 1e-6)
  end
  test.equal(found, wanted)
end

-- Checks that a command ends as the entry says, and its output.
local function check_command(entry, command)
  if not program.moonrank then return test.skip "MOONRANK does not name the program" end
  local ok, text = program.run(command)
  test.equal(ok, entry.works == true, text)
  check_words(entry, text)
end

describe("a newcomer's mistake gets its advice:", function()
  for _, entry in ipairs(mistakes) do
    it((entry.code or entry.script or entry.prompt or "moonrank " .. entry.shell):gsub("\n", " "), function()
      if entry.code then
        local text = error_of(entry, environment(entry))
        local line = select(2, entry.code:gsub("\n", "")) + 1
        check(text:find(("script.lua:%d: "):format(line), 1, true) == 1, text)
        check_words(entry, text)
        check_instead(entry)
      elseif entry.shell then
        check_command(entry, ("%s %s"):format(program.moonrank, entry.shell))
      else
        local folder = sweeps.new_folder()
        sweeps.write(folder .. "/script.lua", entry.script or entry.prompt)
        local from = entry.prompt and "< script.lua" or "script.lua"
        check_command(entry, ("cd %s && %s %s"):format(folder, program.moonrank, from))
      end
    end)
  end
end)

it("tests/support/mistakes.lua has at least 60 entries", function() check(#mistakes >= 60, tostring(#mistakes)) end)
