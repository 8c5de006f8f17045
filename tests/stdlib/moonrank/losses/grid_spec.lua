-- Tests every loss of the library under every bound that applies to it, by short training on MovieLens, on MQ2008, and
-- on made-up degenerate lists. No number may be NaN or infinite. On the two real data sets, every loss must rank
-- held-out lists better than a random ranker: the mean of the loss' own metric must exceed the expected mean of random
-- rankings by more than three standard errors. New losses (mr.losses.names) and bounds (mr.bounds.names) are tested
-- automatically. A bound that does not apply raises an error, and its cell is blank in the table that is printed if a
-- cell fails, or with MOONRANK_SHOW=1.
local mr = require "moonrank"
local dataset = require "moonrank.data.dataset"
local join = require "moonrank.data.join"
local program = require "tests.support.program"
local test = require "moonrank.test"
local describe, it, check = test.describe, test.it, test.check

local sigmas = 3  -- number of standard errors by which a loss must beat the random ranker

-- Selects the first `count` lists that have 2 to `most` rows.
local function short_lists(part, count, most)
  local chosen = {}
  for l, size in ipairs(part.lists.sizes:totable()) do
    if size > 1 and size <= most and #chosen < count then chosen[#chosen + 1] = l end
  end
  return dataset.chosen(part, chosen, part.name)
end

-- Returns the metric on which a loss must beat the random ranker: its own, if the expected value under random rankings
-- is known, else nDCG.
local function metric_of(loss)
  local metric = mr.metrics.parse(loss.metric)
  return metric.closed_forms and not metric.minimize and metric.name or "ndcg"
end

-- Returns the expected mean of a metric under random rankings over the lists that count, and its standard error,
-- computed from closed forms for each list.
local function random_ranker(metric, lists)
  local stats, total, variance, count = mr.bounds.stats(metric, lists), 0, 0, 0
  local expected, sd = stats.expectation:totable(), stats.sd:totable()
  for l, mean in ipairs(expected) do
    if mean == mean and sd[l] == sd[l] then total, variance, count = total + mean, variance + sd[l] ^ 2, count + 1 end
  end
  return total / count, math.sqrt(variance) / count
end

local sets = {
  { name = "MovieLens", file = "ml-latest-small", make = function(folder)
    local ratings = mr.data.movielens(folder .. "/ml-latest-small")
    local fold = ratings:binarize(4):folds{ k = 5, by = "user", seed = 1, nsr = 1 }[1]
    local function model()
      return mr.models.biased_mf{ users = ratings.users, items = ratings.items, factors = 4, init = 0.1, seed = 1 }
    end
    return { train = short_lists(fold.train, 200, 40), valid = short_lists(fold.test, 1000, 30), rate = 0.05,
      epochs = 6, model = model }
  end },
  { name = "MQ2008", file = "mq2008", make = function(folder)
    local fold = mr.data.letor_folds(folder .. "/mq2008")[1]
    local valid = short_lists(join({ fold.valid, fold.test }, "valid"), 1000, 120)
    return { train = short_lists(fold.train, 240, 40), valid = valid, rate = 0.02, epochs = 12,
      model = function() return mr.models.linear{ inputs = 46, seed = 1 } end }
  end },
}

-- Made-up degenerate lists: all rows equal, one row, no rows, ties. Features are equal within some lists, so that
-- scores are equal.
local function breaking()
  local grades = { {}, { 1 }, { 0 }, { 1, 1, 1 }, { 0, 0, 0, 0 }, { 2, 2 }, { 1, 0 }, { 0, 3, 0, 0, 1 }, {},
    { 0, 1, 0, 1, 0, 1, 2, 4 }, { 4, 4, 4, 0 } }
  local lists, features = mr.lists(grades), {}
  local x = mr.normal({ lists.rows, 3 }, { seed = 1 }):totable()
  for l, sizes in ipairs(grades) do
    for i = 1, #sizes do
      local own = x[#features + 1]
      features[#features + 1] = l % 2 == 0 and i > 1 and features[#features] or i == 3 and { 1e4, -1e4, 0 } or own
    end
  end
  return dataset.new{ lists = lists, features = mr.tensor(features), name = "made-up lists" }
end

local function finite(x) return (x - x):eq(0):min():item() ~= 0 end

-- Returns the mean of `metric` on `valid` after training (or, without a metric, the loss of the last epoch), or nil and
-- the problem.
local function trained(set, loss, metric)
  local model = set.model()
  local batch = dataset.whole_batch(set.train)
  local mean = loss:mean(model(batch), batch.lists)
  if not finite(mean:reshape(1)) then return nil, "the loss is not finite" end
  if mean.tracked then mean:backward() end
  for _, parameter in ipairs(model:parameters()) do
    if parameter.grad and not finite(parameter.grad) then return nil, "a gradient is not finite" end
    parameter:zero_grad()
  end
  local run = mr.fit{ model = model, loss = loss, train = set.train, optimizer = mr.optim.adam{ lr = set.rate },
    epochs = set.epochs, batch = 16, progress = false }
  for _, epoch in ipairs(run.history) do
    if epoch.loss - epoch.loss ~= 0 then return nil, "an epoch's loss is not finite" end
  end
  for _, parameter in ipairs(model:parameters()) do
    if not finite(parameter:detach()) then return nil, "a parameter is not finite" end
  end
  if not set.valid then return run.history[#run.history].loss end
  return mr.evaluate(model(dataset.whole_batch(set.valid)), set.valid.lists, { metric }).mean[metric]
end

-- Returns a table with a row for each loss and a column for each bound. `about(loss)` gives its metric and the value to
-- beat.
local function table_of(name, cells, about)
  local columns, rows = table.pack(name, "metric", "to beat", table.unpack(mr.bounds.names())), {}
  columns.n = nil
  for r, loss in ipairs(mr.losses.names()) do
    local metric, least
    if about then metric, least = about(loss) end
    rows[r] = { loss, metric or "", least and ("%.4f"):format(least) or "" }
    for c, bound in ipairs(mr.bounds.names()) do rows[r][c + 3] = cells[loss .. " " .. bound] or "" end
  end
  return tostring(mr.table{ columns = columns, rows = rows })
end

-- With its default beta of 0.1, this loss mostly lowers the scores of other rows. A linear model of positive features
-- without a bias then ranks worse than at random.
local given = { llpauc_as_coded = { beta = 0.7 } }

local function made(loss, bound)
  local options = { bound = bound }
  for key, value in pairs(given[loss] or {}) do options[key] = value end
  return mr.losses[loss](options)
end

-- Calls f(loss) for every loss under every bound that applies. Raises an error with a table of all results if one
-- fails.
local function grid(name, f, about)
  local cells, failed = {}, {}
  for _, loss in ipairs(mr.losses.names()) do
    for _, bound in ipairs((mr.losses.bounds(loss))) do
      local value, wrong = f(made(loss, bound))
      cells[loss .. " " .. bound] = value and ("%.4f"):format(value) or "-"
      if wrong then failed[#failed + 1] = ("%s under %s: %s"):format(loss, bound, wrong) end
    end
  end
  if os.getenv "MOONRANK_SHOW" or #failed > 0 then print(table_of(name, cells, about)) end
  check(#failed == 0, table.concat(failed, "\n"))
end

describe("every loss under every bound", function()
  it("applies or gives a reason in mr.losses.bounds", function()
    check(#mr.losses.names() > 20, "few losses")
    test.raises(function() mr.losses.bounds "ndgc" end, "'ndgc'", "'ndcg'")
    test.raises(function() mr.losses.bounds "define" end, "'define'", "loss")
    test.raises(function() mr.losses.bounds("top_n_rank", { k = 0 }) end, "k", "0")
    for _, loss in ipairs(mr.losses.names()) do
      local taken, why = mr.losses.bounds(loss)
      for _, bound in ipairs(taken) do check(not why[bound], bound) end
      for bound, reason in pairs(why) do
        local named = reason:find(loss, 1, true) and reason:find(bound, 1, true)
        check(named and reason:find "expected", loss .. ": " .. reason)
        check(not pcall(mr.losses[loss], { bound = bound }), loss .. " under " .. bound)
      end
    end
  end)

  it("stays finite on degenerate lists", function()
    local function model() return mr.models.linear{ inputs = 3, seed = 1 } end
    local set = { train = breaking(), rate = 0.01, epochs = 3, model = model }
    grid("made-up lists", function(loss) return trained(set, loss) end)
  end)

  for _, of in ipairs(sets) do
    it("ranks better than random rankings on " .. of.name, function()
      local folder = program.data_folder(of.file)
      if not folder then return test.skip("no data at MOONRANK_DATA or ../shared/data: " .. of.file) end
      local set = of.make(folder)
      local known, by = {}, {}
      grid(of.name, function(loss)
        local metric = metric_of(loss)
        by[loss.name] = metric
        if not known[metric] then
          local mean, error_of_mean = random_ranker(metric, set.valid.lists)
          known[metric] = mean + sigmas * error_of_mean
        end
        local value, wrong = trained(set, loss, metric)
        local beats = value and value > known[metric]  -- false if the value is NaN
        if value and not beats then
          wrong = ("%s is %.4f, expected more than %.4f"):format(metric, value, known[metric])
        end
        return value, wrong
      end, function(loss) return by[loss], known[by[loss]] end)
    end)
  end
end)
