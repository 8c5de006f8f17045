-- Tests scripts/objectives/seeds.lua: networks that differ in one bit, how far apart their training ends, and the
-- script on made-up data.
local mr = require "moonrank"
local test = require "moonrank.test"
local core = require "moonrank.core"
local scripts, in_process = dofile "tests/support/scripts.lua", dofile "tests/support/in_process.lua"
local it, equal, near, check = test.it, test.equal, test.near, test.check
local trainings = dofile "scripts/objectives/seeds_runs.lua"

local function weights(model)
  local all = {}
  for _, x in ipairs(model:parameters()) do
    local numbers = core.numbers(x:detach())
    table.move(numbers, 1, #numbers, #all + 1, all)
  end
  return all
end

it("change_last_bit changes one weight of a network in its last bit, and the network can be trained", function()
  local model = mr.models.mlp{ inputs = 3, hidden = { 2 }, activation = "relu", seed = 1 }
  local before = weights(model)
  trainings.change_last_bit(model)
  local changed = {}
  for i, x in ipairs(weights(model)) do
    local bits, was = string.unpack("<I4", string.pack("<f", x)), string.unpack("<I4", string.pack("<f", before[i]))
    if bits ~= was then changed[#changed + 1] = bits ~ was end
  end
  equal(changed, { 1 })
  local queries = mr.data.synthetic{ kind = "queries", queries = 4, features = 3, seed = 1 }
  local after = weights(model)
  mr.fit{ model = model, loss = mr.losses.mse(), train = queries, epochs = 1, progress = false,
    optimizer = mr.optim.adam{ lr = 0.1 } }
  for i, x in ipairs(weights(model)) do check(x ~= after[i] or i <= 6, "the output layer is trained") end
end)

it("parting finds where curves differ by more than a bound, or where one ends", function()
  equal(trainings.parting({ 1, 2, 3 }, { 1, 2, 3 }, 0), nil)
  equal(trainings.parting({ 1, 2, 3 }, { 1, 2.5, 4 }, 0), 2)
  equal(trainings.parting({ 1, 2, 3 }, { 1, 2.5, 4 }, 0.5), 3)
  equal(trainings.parting({ 1, 2 }, { 1, 2, 3 }, 0), 3)
end)

it("moved shows changes at equal seed beside those of two seeds", function()
  -- two folds with three seeds each: the values change by 1, 0, -1 and 0, 0, 2; the variances over seeds are 1 and 4
  local found = trainings.moved{ { { 1, 2 }, { 2, 2 }, { 3, 2 } }, { { 0, 0 }, { 2, 2 }, { 4, 6 } } }
  near(found.rms, 1, 1e-12)
  equal(found.most, 2)
  near(found.of_seeds, math.sqrt(5), 1e-12)
  near(found.change.mean, 1 / 3, 1e-12)
  near(trainings.distribution{ 1, 2, 3 }.half, 4.302652729696 / math.sqrt(3), 1e-9)
end)

scripts.it("seeds.lua has a table of pairs where two groups are of one algorithm", {}, function(folder)
  local function tables_of(...)
    local words = { "--smoke", "--workers", "0", "--store", folder .. "/runs.db", "--last_bit", "ApproxNDCGBatched",
      ... }
    return in_process.section("scripts/objectives/seeds.lua", words).tables
  end
  local alone = tables_of("--algorithms", "ApproxNDCGQbQ")
  equal({ #alone, #alone[1].rows }, { 1, 3 })
  local pairs_of = tables_of("--algorithms", "ApproxNDCGBatched")[2]
  -- one row for each learning rate, and one for the rate that validation chose
  equal(#pairs_of.rows, #dofile("scripts/objectives/protocol.lua").rates + 1)
end)

scripts.it("seeds.lua --smoke shows nDCG over seeds and trainings of equal seed", {}, function(folder)
  local text = scripts.run(folder, "objectives/seeds.lua", "--smoke --workers 0 --algorithms ApproxNDCGBatched")
  check(text:find("nDCG over seeds", 1, true) and text:find("two trainings of equal seed", 1, true), text)
  check(text:find("last bit", 1, true) and text:find("MseNetBatched", 1, true) and not text:find("nan", 1, true), text)
end)
