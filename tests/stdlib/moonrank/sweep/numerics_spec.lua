-- Tests that studies and checkpoints record their numerics version and resume under another version only with
-- mix_numerics.
local mr = require "moonrank"
local core = require "moonrank.core"
local store = require "moonrank.sweep.store"
local sweeps = dofile "tests/support/sweeps.lua"
local test = require "moonrank.test"
local describe, it, equal, check, raises = test.describe, test.it, test.equal, test.check, test.raises

local ran

local function sweep(folder, options)
  local o = { name = "s", space = { i = mr.range(1, 4) }, store = folder .. "/r.db", workers = 0, progress = false,
    run = function(trial)
      ran = ran + 1
      return trial.i
    end }
  for name, value in pairs(options or {}) do o[name] = value end
  return mr.sweep(o)
end

local function change(folder, statement)
  local opened <close> = store.open(folder .. "/r.db", "write")
  opened:columns(statement)
end

local function numerics_of(folder)
  local opened <close> = store.open(folder .. "/r.db", "read")
  local out = {}
  for _, each in ipairs(opened:numerics(opened:study "s")) do
    out[#out + 1] = ("%s %d"):format(each.numerics or "none", each.trials)
  end
  return out
end

local function new_folder()
  ran = 0
  return sweeps.new_folder()
end

describe("a study", function()
  it("records the numerics version of every trial and resumes under the same version", function()
    local folder = new_folder()
    sweep(folder, { trials = 2 })
    equal(numerics_of(folder), { core.numerics() .. " 2" })
    equal({ sweep(folder):counts(), ran }, { { done = 4 }, 4 })
  end)

  it("raises an error under another numerics version unless mix_numerics = true", function()
    local folder = new_folder()
    sweep(folder, { trials = 3 })
    change(folder, "UPDATE trials SET numerics = '2020-01' WHERE number = 1")
    change(folder, "UPDATE trials SET numerics = NULL WHERE number = 2")
    local message = raises(function() sweep(folder) end, "'s'", "study", "numerics")
    local parts = { "not recorded (1 trial), '2020-01' (1 trial)", "now:  '" .. core.numerics() .. "'",
      "mix_numerics = true" }
    for _, words in ipairs(parts) do check(message:find(words, 1, true), message) end
    raises(function() sweep(folder, { force = true }) end, "'s'", "numerics")
    equal(ran, 3, "no trial ran")
    equal({ sweep(folder, { mix_numerics = true }):counts(), ran }, { { done = 4 }, 4 })
    equal(numerics_of(folder), { core.numerics() .. " 2", "none 1", "2020-01 1" })
  end)

  it("is returned under another numerics version if it is finished or only read", function()
    local folder = new_folder()
    sweep(folder)
    change(folder, "UPDATE trials SET numerics = '2020-01'")
    equal({ sweep(folder):counts(), mr.results(folder .. "/r.db", "s"):counts(), ran },
      { { done = 4 }, { done = 4 }, 4 })
    raises(function() sweep(folder, { space = { i = mr.range(1, 5) }, force = true }) end,
      "then: '2020-01' (4 trials)")
  end)

  it("compares the numerics version of interrupted trials", function()
    local folder = new_folder()
    sweep(folder, { trials = 1 })
    change(folder, "UPDATE trials SET numerics = '2020-01', state = 'interrupted'")
    raises(function() sweep(folder) end, "'s'", "numerics")
  end)

  it("prints the numerics version of a store without control characters", function()
    local folder = new_folder()
    sweep(folder, { trials = 1 })
    change(folder, "UPDATE trials SET numerics = char(27) || '[2J'")
    check(not raises(function() sweep(folder) end, "'s'", "numerics"):find "\27")
  end)
end)

local script = [[
local mr = require "moonrank"
local args = mr.args{ trials = 2, workers = 2, mix_numerics = false }
mr.sweep{ name = "s", store = "r.db", workers = args.workers, trials = args.trials, progress = false,
  mix_numerics = args.mix_numerics, space = { i = mr.range(1, 4) }, run = function(trial) return trial.i end }
print "done"
]]

it("mr.sweep with workers resumes under MOONRANK_SIMD=scalar only with mix_numerics = true", function()
  if not sweeps.moonrank then return test.skip "MOONRANK does not name the program" end
  if not core.simd():find "^avx" then return test.skip "this processor has one instruction set only" end
  local folder = sweeps.new_folder(script)
  equal(sweeps.run(folder, "sweep.lua"), 0)
  local status, printed, err = sweeps.run(folder, "sweep.lua", "--trials 4", "MOONRANK_SIMD=scalar")
  equal({ status, printed }, { 1, "" })
  local now = core.numerics()
  check(err:find(("then: '%s' (2 trials)\n  now:  '%s scalar'"):format(now, now), 1, true), err)
  equal(sweeps.run(folder, "sweep.lua", "--trials 4 --mix-numerics", "MOONRANK_SIMD=scalar"), 0)
  equal(numerics_of(folder), { now .. " 2", now .. " scalar 2" })
end)

local function checkpoint_of(path, numerics)
  local x = mr.ones(2)
  mr.checkpoint(path, { seed = 1 }, function() return { x = x } end)
  local text = sweeps.read(path)
  local entry = ('"numerics":"%s"'):format(core.numerics())
  check(text:find(entry, 1, true), "the file says nothing of its numerics")
  local header, data = string.unpack("<s8", text)
  local from, to = header:find(entry, 1, true)
  header = header:sub(1, from - 1) .. ('"numerics":"%s"'):format(numerics) .. header:sub(to + 1)
  header = header:gsub('"checksum [^,]*,', "")
  sweeps.write(path, string.pack("<s8", header) .. text:sub(data))
end

describe("a stored numerics version", function()
  it("of a checkpoint must be the current one unless mix_numerics = true", function()
    local folder = new_folder()
    local path = folder .. "/part"
    checkpoint_of(path, "1999")
    local function compute() error("not to be run", 0) end
    raises(function() mr.checkpoint(path, { seed = 1 }, compute) end, "1999", "numerics")
    local results, there = mr.checkpoint(path, { seed = 1 }, compute, { mix_numerics = true })
    equal({ results.x:totable(), there }, { { 1, 1 }, true })
    raises(function() mr.checkpoint(path, { seed = 1 }, compute, { mix = true }) end, "mix")
    for _, name in ipairs{ "format", "numerics" } do
      raises(function() mr.checkpoint(path .. "2", { [name] = 1 }, error) end, "setting", "'" .. name .. "'")
    end
  end)

  it("of a model is recorded and not compared", function()
    local folder = new_folder()
    local path = folder .. "/model"
    mr.models.mf{ users = 2, items = 3, factors = 2, seed = 1 }:save(path)
    local _, _, keys, values = core.load_tensors(path, "moonrank model")
    local said = {}
    for i, key in ipairs(keys) do said[key] = values[i] end
    equal(said.numerics, core.numerics())
    equal(mr.models.load(path).config.numerics, nil)
    raises(function() core.save_tensors(path, "moonrank model 1", {}, {}, { "numerics" }, { "x" }) end, "'numerics'")
  end)
end)
