-- Tests decisions of the thesis' experiments other than Table 5.1 (beside.lua) on small made-up data, against numbers
-- worked out by hand.
local files = require "tests.support.files"
local test = require "moonrank.test"
local protocols = dofile "tests/support/protocols.lua"
local beside = dofile "scripts/thesis/beside.lua"
local it, equal, near = test.it, test.equal, test.near

it("beside.valid_share takes a fifth of the training queries for validation without a part for it", function()
  local folder = files.new_folder()
  os.execute(("mkdir -p %s/clueweb09-ltr/Fold1"):format(folder))
  for name, count in pairs{ train = 20, test = 1 } do
    local lines = {}
    for query = 1, count do lines[query] = ("1 qid:%d 1:0.5 2:1\n0 qid:%d 1:0.25 2:0\n"):format(query, query) end
    files.write(("%s/clueweb09-ltr/Fold1/%s.txt"):format(folder, name), table.concat(lines))
  end
  local fold = beside.set({ data = folder, smoke = false }, "clueweb").fold(1, 1)
  equal({ fold.train.count, fold.valid.count, fold.test.count }, { 16, 4, 1 })
end)

it("beside.grids have powers of ten from 0.001 for both optimizers, and beside.steps half steps", function()
  local function best(exponents, peak)
    local valid = {}
    for _, exponent in ipairs(exponents) do valid[exponent] = -math.abs(math.log(beside.rate(exponent) / peak)) end
    return beside.choose(valid)
  end
  local root = math.sqrt(10)
  for optimizer, top in pairs{ adam = -1, sgd = 4 } do
    local grid = beside.grids[optimizer]
    for power = -3, top do
      local coarse = best(grid, 10.0 ^ power)
      near(beside.rate(coarse) / 10.0 ^ power, 1, 1e-9)
      local first, second = beside.rate(coarse + beside.steps[1]), beside.rate(coarse + beside.steps[2])
      near({ first * root / 10.0 ^ power, second / root / 10.0 ^ power, #beside.steps }, { 1, 1, 2 }, 1e-9)
    end
    near({ beside.rate(best(grid, 1e-9)) / 1e-3, beside.rate(best(grid, 1e9)) / 10.0 ^ top }, { 1, 1 }, 1e-9)
  end
end)

it("beside.seeds are three, which makes 945 runs of CiteULike-a under seven bounds", function()
  local different, bounds, losses = {}, 7, 3
  for _, seed in ipairs(beside.seeds) do different[seed] = true end
  equal({ different[1], different[2], different[3] }, { true, true, true })
  local set = beside.sets.citeulike(protocols.liking({ { relevant = 25, value = 1, other = 0.5 } }, 400))
  equal(#beside.seeds * set.folds * #set.values * bounds * losses, 945)
end)

it("beside.change_of tests pairs by all signs if they are few, and by 100,000 choices if they are many", function()
  local found = beside.change_of({ 2, 3, 0 / 0, 5, 1 }, { 1, 1, 0, 2, 2 })
  -- the differences 1, 2, 3, -1 have mean 1.25 and sum 5. Of 16 choices of signs, six have a sum of at least 5 in size:
  -- two with 7, and four with 5 (either a 1 is negative)
  equal({ found.change, found.n, found.wins, found.mean, found.other_mean }, { 1.25, 4, 0.75, 2.75, 1.2 })
  near(found.p, 6 / 16, 1e-12)
  equal(beside.change_of({ 1, 2, 3, 4 }, { 1, 2, 2, 5 }).wins, 0.25)  -- of four, two are equal
  near(found.d, 1.25 / math.sqrt((0.25 ^ 2 + 0.75 ^ 2 + 1.75 ^ 2 + 2.25 ^ 2) / 3), 1e-12)
  local a, b = {}, {}
  for i = 1, 25 do a[i], b[i] = i % 7 + 0.25 * i, i % 5 + 0.21 * i end
  local count = beside.change_of(a, b).p * 100001
  near(count, math.floor(count + 0.5), 1e-6)
end)

it("beside.correct turns 0.01, 0.04, 0.03 into 0.03, 0.06, 0.06, and beside.side has level 0.05", function()
  local corrected = beside.correct{ 0.01, 0.04, 0.03 }
  near(corrected, { 0.03, 0.06, 0.06 }, 1e-12)
  local sides = {}
  for i, p in ipairs(corrected) do sides[i] = { beside.side(0.1, p), beside.side(-0.1, p) } end
  equal(sides, { { 1, -1 }, { 0, 0 }, { 0, 0 } })
  equal({ beside.side(1, 0.05), beside.side(1, 0.0499), beside.side(-1, 0.05), beside.protocol.level }, { 0, 1, 0,
    0.05 })
end)

it("beside.verdict holds if all are significantly better, and is contradicted by one that is worse", function()
  local function verdict(better, surely_better, surely_worse)
    return beside.verdict{ of = 5, better = better, surely_better = surely_better, surely_worse = surely_worse }
  end
  equal({ verdict(5, 5, 0), verdict(5, 4, 0), verdict(4, 4, 0), verdict(4, 4, 1), verdict(0, 0, 5), verdict(0, 0, 0) },
    { "holds", "in the mean only", "not shown", "contradicted", "contradicted", "not shown" })
end)

it("beside.near accepts differences up to 0.01", function()
  equal({ beside.near(0.01), beside.near(-0.01), beside.near(0.011), beside.near(-0.011) }, { true, true,
    false, false })
end)
