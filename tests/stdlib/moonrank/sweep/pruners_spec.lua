-- Tests pruners of sweeps against cases worked out by hand.
local pruners = require "moonrank.sweep.search.pruners"
local test = require "moonrank.test"
local describe, it, check, equal, raises = test.describe, test.it, test.check, test.equal, test.raises

-- Returns a trial that reported these values, at steps 1, 2, ... or at the given steps.
local function trial(number, values, steps, state)
  local reports = {}
  for i, value in ipairs(values) do reports[i] = { step = steps and steps[i] or i, value = value } end
  return { number = number, reports = reports, state = state or "done" }
end

describe("the median pruner", function()
  -- values of the other trials at step 2: 0.2, 0.4, 0.6, 0.8, with median 0.5
  local others = { trial(1, { 0.9, 0.2, 0.9 }), trial(2, { 0, 0.4, 0 }), trial(3, { 0, 0.6 }, nil, "pruned"),
    trial(4, { 0, 0.8, 0.7 }) }
  local pruner = pruners.make{ "median", startup = 4, generation = 1, warmup = 0 }
  it("prunes below the median of the others at the same step", function()
    equal(pruner:decide(trial(5, { 0.1, 0.49 }), others), true)
    equal(pruner:decide(trial(5, { 0.1, 0.5 }), others), false)
    equal(pruner:decide(trial(5, { 0.1, 0.7 }), others), false)
  end)
  it("uses the best report so far", function() equal(pruner:decide(trial(5, { 0.6, 0.1 }), others), false) end)
  it("waits until enough others reached the step", function()
    -- three of the other trials reached step 3, with the values 0.9, 0, 0.7
    equal(pruner:decide(trial(5, { 0.1, 0.1, 0.1 }), others), false)
    local eager = pruners.make{ "median", startup = 3, generation = 1, warmup = 0 }
    equal(eager:decide(trial(5, { 0.1, 0.1, 0.69 }), others), true)
    equal(eager:decide(trial(5, { 0.1, 0.1, 0.7 }), others), false)
  end)
  it("uses the latest earlier reports of the others if steps differ", function()
    local sparse = { trial(1, { 0.2, 0.9 }, { 1, 10 }), trial(2, { 0.4, 0.9 }, { 2, 10 }),
      trial(3, { 0.6, 0.9 }, { 3, 10 }), trial(4, { 0.8, 0.9 }, { 4, 10 }) }
    equal(pruner:decide(trial(5, { 0.49 }, { 5 }), sparse), true)
    equal(pruner:decide(trial(5, { 0.51 }, { 5 }), sparse), false)
  end)
  it("never prunes during warmup", function()
    local patient = pruners.make{ "median", startup = 1, warmup = 2, generation = 1 }
    equal(patient:decide(trial(5, { 0.1, 0.1 }), others), false)
    equal(patient:decide(trial(5, { 0.1, 0.1, 0.1 }), others), true)
  end)
  it("follows the direction", function()
    local least = pruners.make({ "median", startup = 4, generation = 1, warmup = 0 }, "minimize")
    equal(least:decide(trial(5, { 0.9, 0.51 }), others), true)
    equal(least:decide(trial(5, { 0.9, 0.49 }), others), false)
    equal(least:decide(trial(5, { 0.3, 0.9 }), others), false)
  end)
  it("treats NaN as the worst value in both directions", function()
    for _, direction in ipairs{ "maximize", "minimize" } do
      local p = pruners.make({ "median", startup = 4, generation = 1, warmup = 0 }, direction)
      equal(p:decide(trial(5, { 0 / 0, 0 / 0 }), others), true)
      local poor = {}
      for i = 1, 4 do poor[i] = trial(i, { 0 / 0, i > 2 and 0 / 0 or 0.5 }) end
      equal(p:decide(trial(5, { 0.1, 0.9 }), poor), false)
    end
  end)
end)

describe("the asha pruner", function()
  local pruner = pruners.make{ "asha", generation = 1 }
  local function values_at_rung(values)
    local others = {}
    for i, value in ipairs(values) do others[i] = trial(i, { value }) end
    return others
  end
  it("promotes one third of the trials at a rung", function()
    -- six trials, this one included, reached the rung, so two continue
    local others = values_at_rung{ 0.1, 0.2, 0.3, 0.8, 0.9 }
    equal(pruner:decide(trial(6, { 0.7 }), others), true)
    equal(pruner:decide(trial(6, { 0.85 }), others), false)
    equal(pruner:decide(trial(6, { 0.95 }), others), false)
    -- five trials, this one included, reached the rung, so one continues
    others = values_at_rung{ 0.1, 0.2, 0.3, 0.8 }
    equal(pruner:decide(trial(6, { 0.7 }), others), true)
    equal(pruner:decide(trial(6, { 0.81 }), others), false)
  end)
  it("promotes the first trial and the best of few", function()
    equal(pruner:decide(trial(1, { 0.1 }), {}), false)
    equal(pruner:decide(trial(2, { 0.2 }), values_at_rung{ 0.1 }), false)
    equal(pruner:decide(trial(2, { 0.05 }), values_at_rung{ 0.1 }), true)
  end)
  it("decides only at rungs 1, 3, 9 and 27", function()
    local others = {}
    for i = 1, 2 do
      local values = {}
      for step = 1, 30 do values[step] = 1 end
      others[i] = trial(i, values)
    end
    local values, rungs = {}, {}
    for step = 1, 30 do
      values[step] = 0
      if pruner:decide(trial(3, values), others) then rungs[#rungs + 1] = step end
    end
    equal(rungs, { 1, 3, 9, 27 })
    local later, found = pruners.make{ "asha", min_resource = 4, factor = 2, generation = 1 }, {}
    for step = 1, 30 do
      local short = { table.unpack(values, 1, step) }
      if later:decide(trial(3, short), others) then found[#found + 1] = step end
    end
    equal(found, { 4, 8, 16 })
  end)
  it("compares the trials that reached a rung by their values there", function()
    -- the pruned trial did not reach rung 3, so two trials and this one are compared; later values do not count
    local others = { trial(1, { 0.9 }, nil, "pruned"), trial(2, { 0.1, 0.1, 0.5, 0.9 }),
      trial(3, { 0.1, 0.1, 0.6, 0.1 }) }
    equal(pruner:decide(trial(4, { 1, 1, 0.55 }), others), true)
    equal(pruner:decide(trial(4, { 1, 1, 0.65 }), others), false)
  end)
  it("uses the first report at or after a rung", function()
    local others = { trial(1, { 0.5, 0.1 }, { 4, 8 }), trial(2, { 0.6, 0.1 }, { 4, 8 }) }
    equal(pruner:decide(trial(3, { 0.4 }, { 5 }), others), true)
    equal(pruner:decide(trial(3, { 0.7, 0 }, { 5, 6 }), others), false)
  end)
  it("follows the direction", function()
    local least = pruners.make({ "asha", generation = 1 }, "minimize")
    equal(least:decide(trial(3, { 0.2 }), values_at_rung{ 0.1, 0.3 }), true)
    equal(least:decide(trial(3, { 0.05 }), values_at_rung{ 0.1, 0.3 }), false)
  end)
end)

describe("the wilcoxon pruner", function()
  local best = trial(1, { 0.5, 0.6, 0.7, 0.8, 0.9 })
  local others = { best, trial(2, { 0.1, 0.1, 0.1, 0.1, 0.1 }), trial(3, { 0.95 }, nil, "pruned") }
  local pruner = pruners.make{ "wilcoxon", generation = 1 }
  it("prunes if the best trial is better on every fold so far, by p = 1/2^n", function()
    equal(pruner:decide(trial(4, { 0.4, 0.5 }), others), false)
    equal(pruner:decide(trial(4, { 0.4, 0.5, 0.6 }), others), false)  -- 1/8
    equal(pruner:decide(trial(4, { 0.4, 0.49, 0.58, 0.67 }), others), true)  -- 1/16
    local strict = pruners.make{ "wilcoxon", p = 0.05, generation = 1 }
    equal(strict:decide(trial(4, { 0.4, 0.49, 0.58, 0.67 }), others), false)
    equal(strict:decide(trial(4, { 0.4, 0.49, 0.58, 0.67, 0.76 }), others), true)  -- 1/32
  end)
  it("continues if folds disagree or the trial is the better one", function()
    -- this trial is better in one of four folds, by the second smallest difference: P(W+ <= 2) = 3/16 is not
    -- significant
    equal(pruner:decide(trial(4, { 0.4, 0.8, 0.4, 0.4 }), others), false)
    -- better in one of four folds, by the smallest difference: P(W+ <= 1) = 2/16 is not significant
    equal(pruner:decide(trial(4, { 0.51, 0.5, 0.5, 0.5 }), others), false)
    -- better in one of five folds, by the smallest difference: P(W+ <= 1) = 2/32 is significant
    equal(pruner:decide(trial(4, { 0.51, 0.5, 0.5, 0.5, 0.4 }), others), true)
    equal(pruner:decide(trial(4, { 0.6, 0.7, 0.8, 0.9, 1 }), others), false)
    equal(pruner:decide(trial(4, { 0.5, 0.6, 0.7, 0.8, 0.9 }), others), false)
  end)
  it("pairs folds by number", function()
    equal(pruner:decide(trial(4, { 0.85, 0.75, 0.65, 0.55 }, { 5, 4, 3, 2 }), others), true)
    equal(pruner:decide(trial(4, { 0.4, 0.5, 0.6, 0.1 }, { 1, 2, 3, 9 }), others), false)
  end)
  it("compares with finished trials only and with the best of them by direction", function()
    equal(pruner:decide(trial(4, { 0, 0, 0, 0, 0 }), { others[3] }), false)
    local least = pruners.make({ "wilcoxon", generation = 1 }, "minimize")
    equal(least:decide(trial(4, { 0.2, 0.3, 0.4, 0.5 }), others), true)
    equal(least:decide(trial(4, { 0.01, 0.02, 0.03, 0.04 }), others), false)
  end)
end)

describe("every pruner", function()
  it("uses earlier generations only", function()
    local others = {}
    for i = 1, 20 do others[i] = trial(i, { i <= 10 and 0.1 or 0.9 }) end
    for _, how in ipairs{ { "median", warmup = 0 }, "asha" } do
      local pruner = pruners.make(how)
      local generations = {}
      for i, number in ipairs{ 1, 10, 11, 25 } do generations[i] = pruner:generation_of(number) end
      equal(generations, { 1, 1, 11, 21 })
      -- with generations of ten, trials 1 to 10 see no other trial, trials 11 to 20 see the value 0.1 of ten trials,
      -- and later ones also 0.9
      equal(pruner:decide(trial(10, { 0 }), others), false)
      equal(pruner:decide(trial(11, { 0.5 }), others), false)
      equal(pruner:decide(trial(11, { 0.05 }), others), true)
      equal(pruner:decide(trial(21, { 0.45 }), others), true)
    end
  end)
  it("does not depend on the order of the other trials", function()
    local others, turned = {}, {}
    for i, value in ipairs{ 0.2, 0.9, 0.5, 0.1, 0.7 } do
      others[i] = trial(i, { value, 1 - value })
      turned[6 - i] = others[i]
    end
    local decisions = 0
    for _, name in ipairs{ "median", "asha", "wilcoxon" } do
      local pruner = pruners.make{ name, generation = 1 }
      for value = 0, 1, 0.05 do
        local one = pruner:decide(trial(6, { value }), others)
        equal(pruner:decide(trial(6, { value }), turned), one)
        if one then decisions = decisions + 1 end
      end
    end
    check(decisions > 5)
  end)
  it("decides nothing without reports", function()
    for _, name in ipairs{ "median", "asha", "wilcoxon" } do
      equal(pruners.make(name):decide(trial(11, {}), { trial(1, {}), trial(2, { 1 }) }), false)
    end
  end)
  it("prints its options and rejects invalid ones", function()
    equal(tostring(pruners.make{ "asha", factor = 4 }), "asha(factor = 4, generation = 10, min_resource = 1)")
    for _, case in ipairs{
      { "medium", "'medium'", "'median'" },
      { { "median", warm_up = 3 }, "'warm_up'", "'warmup'" },
      { { "median", warmup = -1 }, "warmup", "-1" },
      { { "asha", factor = 1 }, "factor", "1" },
      { { "wilcoxon", p = 2 }, "p", "2" },
    } do raises(function() pruners.make(case[1]) end, table.unpack(case, 2)) end
    raises(function() pruners.make("asha", "up") end, "'up'")
  end)
end)
