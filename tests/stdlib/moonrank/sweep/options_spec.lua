-- Tests warnings of a resumed sweep about changed mr.args options that trials read and `settings` does not name.
local mr = require "moonrank"
local checks = require "moonrank.check"
local sweeps = dofile "tests/support/sweeps.lua"
local says = require "tests.support.says"
local test = require "moonrank.test"
local it, equal, check, raises = test.it, test.equal, test.check, test.raises

-- Runs `body` and returns the warnings that it prints.
local function warnings_of(body, ...)
  local said, was = {}, checks.warn
  checks.warn = function(text) said[#said + 1] = text end
  local ok, problem = pcall(body, ...)
  checks.warn = was
  if not ok then error(problem, 0) end
  return said
end

-- A sweep whose trials read the options --lr, --notes and --rates. Only the script itself reads --trials. `make` gives
-- further options of mr.sweep.
local function sweep(folder, words, make)
  local args = mr.args({ lr = 0.1, trials = 2, notes = "a", rates = { 1, 2 } }, words)
  local options = make and make(args) or {}
  local o = { name = "s", store = folder .. "/r.db", workers = 0, progress = false, space = { x = mr.range(1, 9) },
    trials = args.trials,
    run = function(trial)
      local _ = args["notes"]
      return trial.x * args.lr + #args.rates
    end }
  for name, value in pairs(options) do o[name] = value end
  return mr.sweep(o)
end

it("mr.sweep refuses names that are empty or not UTF-8", function()
  local folder = sweeps.new_folder()
  for option, name in pairs{ name = "s\xff", metric = "\xff" } do
    raises(function() sweep(folder, {}, function() return { [option] = name } end) end, "mr.sweep: " .. option, "xff",
      "UTF-8")
  end
  raises(function() sweep(folder, {}, function() return { name = "" } end) end, "mr.sweep: name", "''")
end)

it("mr.sweep warns in one line about changed mr.args options that trials read", function()
  local folder = sweeps.new_folder()
  equal(#warnings_of(sweep, folder, {}), 0)
  equal(#warnings_of(sweep, folder, { "--trials", "3" }), 0, "trials do not read --trials")
  local said = warnings_of(sweep, folder, { "--trials", "4", "--lr", "0.2" })
  check(#said == 1 and said[1]:find("--lr", 1, true) and said[1]:find "0%.1.*0%.2", said[1])
  check(not said[1]:find "\n" and not said[1]:find("--trials", 1, true), said[1])
  equal(mr.results(folder .. "/r.db"):counts(), { done = 4 })
  equal(#warnings_of(sweep, folder, { "--trials", "5" }), 0, "the first value again")
  said = warnings_of(sweep, folder, { "--trials", "6", "--lr", "0.3", "--notes", "b\n\tc", "--rates", "2,1" })
  check(#said == 1, #said)
  says(said[1], "--lr (then 0.1, now 0.3)", "--notes", "--rates (then 1,2, now 2,1)")
end)

it("mr.sweep does not warn about options in settings or before the first result", function()
  sweeps.in_folder(function(folder)
    local function with_settings(args) return { settings = { lr = args.lr } } end
    equal(#warnings_of(sweep, folder, {}, with_settings), 0)
    raises(function() sweep(folder, { "--lr", "0.2" }, with_settings) end, "settings")
    local function forced(args) return { settings = { lr = args.lr }, force = true } end
    equal(#warnings_of(sweep, folder, { "--lr", "0.2" }, forced), 0)
    local function failing() return { name = "t", run = function() error "no file" end } end
    equal(#warnings_of(sweep, folder, {}, failing), 0)
  end)
  local folder = sweeps.new_folder()
  local broken = true
  local function run_of(args)
    return { retry = 1, run = function(trial) return broken and error "no file" or trial.x * args.lr end }
  end
  equal(#warnings_of(sweep, folder, {}, run_of), 0)
  equal(#warnings_of(sweep, folder, { "--lr", "0.2" }, run_of), 0)
end)

it("mr.sweep warns about changed options if paused trials have reports only", function()
  local folder = sweeps.new_folder()
  -- a file tells the function to stop, because a captured variable would count as a change of its code
  local cut = folder .. "/cut"
  local function paused(args)
    return { sampler = "random", space = { x = mr.uniform(0, 1) }, metric = "m", direction = "maximize", trials = 9,
      pruner = { "hyperband", max_resource = 9 }, run = function(trial)
        if trial.number == 5 and sweeps.read(cut) ~= "" then error("interrupted", 0) end
        for step = 1, 9 do trial:report(step, { m = args.lr * trial.x }) end
        return { m = args.lr * trial.x }
      end }
  end
  sweeps.write(cut, "cut")
  raises(function() warnings_of(sweep, folder, {}, paused) end, "interrupted")
  os.remove(cut)
  local said = warnings_of(sweep, folder, { "--lr", "0.2" }, paused)
  check(#said == 1 and said[1]:find("--lr (then 0.1, now 0.2)", 1, true), tostring(said[1]))
end)

it("mr.sweep warns about changed options once for all studies and not in workers", function()
  if not sweeps.moonrank then return test.skip "MOONRANK does not name the program" end
  sweeps.in_folder(function(folder)
    equal(sweeps.run(folder, "sweep.lua"), 0)
    local status, _, err = sweeps.run(folder, "sweep.lua", "--trials 4 --lr 0.5")
    equal(status, 0)
    local _, count = err:gsub("%-%-lr %(", "")
    equal(count, 1, err)
  end, [[
local mr = require "moonrank"
local args = mr.args{ lr = 0.1, trials = 2 }
for _, name in ipairs{ "a", "b" } do
  mr.sweep{ name = name, store = "r.db", workers = 2, trials = args.trials, progress = false,
    space = { i = mr.range(1, 4) }, run = function(trial) return trial.i * args.lr end }
end
]])
end)
