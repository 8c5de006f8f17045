-- Tests mr.experiment.compared, the main table of an experiment. Expected results are worked out beside each test.
local mr = require "moonrank"
local says = require "tests.support.says"
local test = require "moonrank.test"
local sweeps = dofile "tests/support/sweeps.lua"
local it, equal, near, check = test.it, test.equal, test.near, test.check

-- Calls body(made): made(space, by, value_of, o) returns mr.experiment.compared of a study of this space with four
-- lists, whose value of the metric is value_of(trial, list).
local function with_compared(body)
  local folder = sweeps.new_folder()
  local studies = 0
  body(function(space, by, value_of, o)
    studies = studies + 1
    local args = { store = folder .. "/runs.db", workers = 0, retry = 0 }
    local results = mr.experiment.study(args, { name = "s" .. studies, settings = { studies }, space = space,
      run = function(trial)
        local own = {}
        for list = 1, 4 do own[list] = value_of(trial, list) end
        return { valid = 0.5, m = 0.5,
          per_list = { m = mr.tensor(own):double(), list = mr.tensor{ 1, 2, 3, 4 }:double() } }
      end })
    local options = { by = by, value = "m" }
    for name, value in pairs(o) do options[name] = value end
    return mr.experiment.compared(results, options)
  end)
end

it("mr.experiment.compared compares each row with the reference that has the row's other parameters", function()
  with_compared(function(made)
    local base, gain = { [1] = 0.25, [2] = 0.5 }, { none = 0.0, minmax = 0.125, mean = -0.125 }
    local space = { nsr = mr.choice{ 1, 2 }, bound = mr.choice{ "none", "minmax", "mean" }, fold = mr.range(1, 2) }
    local found = made(space, { { "nsr", { 1, 2 } }, { "bound", { "none", "minmax", "mean" } } },
      function(trial, list) return base[trial.nsr] + trial.nsr * gain[trial.bound] + list / 64 end,
      { against = { bound = "none" } })
    local changes, means = {}, {}
    for i, row in ipairs(found.rows) do changes[i], means[i] = row.change or "none", row.mean end
    equal(changes, { "none", 0.125, -0.125, "none", 0.25, -0.25 })
    equal(means[5], 0.75 + 2.5 / 64)
    equal({ found.rows[5].runs, found.rows[5].n, found.rows[5].lists }, { 2, 4, 8 })
    local record = found.table:records()[5]
    equal({ record["compared lists"], record.lists }, { 4, 8 })
    equal(found.caption, "")
    says(found.text, "nsr 2, minmax (+0.2500)", "nsr 2, mean (-0.2500)")
  end)
end)

-- Four lists: if all change in the same direction, p = 2 / 2^4 by enumeration; if only one changes, p = 1. The changes
-- of rr are 1, 2, 1, 2 quarters, with mean 0.375 and standard deviation 0.1443.
it("mr.experiment.compared tests changes in pairs, with Holm's correction over the whole table", function()
  with_compared(function(made)
    local losses = { "ap", "rr", "bpr", "bce" }
    local found = made({ nsr = mr.choice{ 1, 2 }, loss = mr.choice(losses) },
      { { "nsr", { 1, 2 } }, { "loss", losses } }, function(trial, list)
        local change = { ap = 0, rr = (2 - list % 2) / 4, bpr = trial.nsr == 1 and -0.25 or 0,
          bce = list == 2 and 1 or 0 }
        return list + change[trial.loss]
      end, { against = { loss = "ap" }, alpha = 0.7, difference = 0.02,
        printed = function(where) return where.nsr == 1 and 2.51 or nil end })
    local ps, holm = {}, {}
    for i, row in ipairs(found.rows) do ps[i], holm[i] = row.p or -1, row.holm or -1 end
    near(ps, { -1, 0.125, 0.125, 1, -1, 0.125, 1, 1 }, 1e-12)
    near(holm, { -1, 0.75, 0.75, 1, -1, 0.75, 1, 1 }, 1e-12)  -- six comparisons
    near({ found.rows[2].change, found.rows[2].d }, { 0.375, 0.375 / (0.125 * math.sqrt(4 / 3)) }, 1e-9)
    says(found.first, "6", "none")
    equal({ found.agreement.of, found.agreement.within, found.agreement.tolerance }, { 4, 1, "0.02" })
    near({ found.rows[1].difference, found.rows[5].difference or -1 }, { -0.01, -1 }, 1e-9)
  end)
end)

it("the text of mr.experiment.compared follows signs and numbers, and names the reference", function()
  with_compared(function(made)
    local function text(losses, value, against)
      local found = made({ loss = mr.choice(losses) }, { { "loss", losses } },
        function(trial) return value[trial.loss] end, { against = { loss = against } })
      return found.text, found.legend
    end
    local two, legend = text({ "ap", "rr" }, { ap = 0.25, rr = 0.5 }, "ap")
    check(two:find("rr is", 1, true) and two:find("loss = ap", 1, true) and not two:find("of 1", 1, true), two)
    check(not two:find("lost", 1, true) and two:find("+0.2500", 1, true), two)
    check(legend:find("loss = ap", 1, true), legend)
    local gains = text({ "ap", "rr", "bpr" }, { ap = 0.25, rr = 0.5, bpr = 0.375 }, "ap")
    check(gains:find("of 2", 1, true) and not gains:find("lost", 1, true), gains)
    local losses = text({ "ap", "rr", "bpr" }, { ap = 0.5, rr = 0.25, bpr = 0.375 }, "ap")
    check(losses:find("lost by rr", 1, true) and not losses:find("gained", 1, true), losses)
  end)
end)

it("the text of mr.experiment.compared has mean differences from printed numbers, by the other parameters", function()
  with_compared(function(made)
    local by = { { "nsr", { 1, 2 }, head = "NSR" }, { "bound", { "none", "minmax" }, shown = { none = "no bound" } } }
    local function text(parameters)
      local space = { bound = mr.choice{ "none", "minmax" }, nsr = mr.choice{ 1, 2 } }
      return made(space, parameters, function(trial) return trial.nsr / 4 + (trial.bound == "none" and 0.125 or 0) end,
        { against = { bound = "none" }, printed = function() return 0.25 end }).text
    end
    -- the values are 0.375 and 0.25 at NSR 1, and 0.625 and 0.5 at NSR 2
    local both = text(by)
    check(both:find("+0.0625 (NSR 1), +0.3125 (NSR 2)", 1, true) and both:find("every bound", 1, true), both)
    local pooled = text{ by[2] }
    check(pooled:find("+0.1875.", 1, true), pooled)
  end)
end)

it("the caption of mr.experiment.compared names parameters over which rows pool", function()
  with_compared(function(made)
    local space = { loss = mr.choice{ "ap", "rr" }, draw = mr.range(1, 3), epochs = mr.choice{ 5 },
      fold = mr.range(1, 2) }
    local found = made(space, { { "loss", { "ap", "rr" } } }, function() return 0.5 end, { against = { loss = "ap" } })
    check(found.caption:find("draw (3", 1, true), found.caption)
    for _, word in ipairs{ "fold", "loss", "epochs" } do check(not found.caption:find(word, 1, true), found.caption) end
  end)
end)

-- Checks that mr.experiment.compared raises an error with these words. The runs of the losses and folds in `failing`
-- fail; `lists_of(trial)` returns the numbers of a run's lists.
local function refuses(failing, lists_of, ...)
  local args = { store = sweeps.new_folder() .. "/runs.db", workers = 0, retry = 0 }
  local results = mr.experiment.study(args, { name = "lists", accepts = function() return true end,
    space = { loss = mr.choice{ "a", "b" }, fold = mr.range(1, 3) },
    run = function(trial)
      if failing[trial.loss .. trial.fold] then error "diverged" end
      local lists, own = lists_of(trial), {}
      for i, list in ipairs(lists) do own[i] = list / 8 end
      return { valid = 0.5, m = 0.5, per_list = { m = mr.tensor(own):double(), list = mr.tensor(lists):double() } }
    end })
  test.raises(function()
    mr.experiment.compared(results, { by = { { "loss", { "a", "b" } } }, against = { loss = "a" }, value = "m" })
  end, ...)
end

-- Both settings have two folds of two lists. Paired by position, a would be compared with b on other queries.
it("mr.experiment.compared refuses settings that were tested in different folds", function()
  local function queries(trial) return { 10 * trial.fold, 10 * trial.fold + 1 } end
  refuses({ a3 = true, b2 = true }, queries, "compared", "loss = a", "loss = b", "fold")
end)

-- A user is in every fold. The mean of a would be over three folds and that of b over two, of which one may be easier.
it("mr.experiment.compared refuses a setting that lacks a fold, although all users are in the other folds", function()
  refuses({ b3 = true }, function() return { 1, 2 } end, "fold 3", "loss = b")
end)

it("mr.experiment.compared refuses a setting that lacks a list", function()
  local function lists(trial) return trial.loss == "b" and trial.fold == 2 and { 1 } or { 1, 2 } end
  refuses({}, lists, "fold 2", "list 2")
end)

it("mr.experiment.compared pairs lists by their numbers if runs store them in different orders", function()
  local args = { store = sweeps.new_folder() .. "/runs.db", workers = 0, retry = 0 }
  local results = mr.experiment.study(args, { name = "orders", space = { loss = mr.choice{ "a", "b" } },
    run = function(trial)
      local lists = trial.loss == "a" and { 1, 2, 3 } or { 3, 1, 2 }
      local own = {}
      for i, list in ipairs(lists) do own[i] = list * list / 16 + (trial.loss == "b" and 0.125 or 0) end
      return { valid = 0.5, m = 0.5, per_list = { m = mr.tensor(own):double(), list = mr.tensor(lists):double() } }
    end })
  local found = mr.experiment.compared(results,
    { by = { { "loss", { "a", "b" } } }, against = { loss = "a" }, value = "m" })
  near({ found.rows[2].change, found.rows[2].p }, { 0.125, 0.25 }, 1e-12)
end)
