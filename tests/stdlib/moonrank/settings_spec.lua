-- Settings as texts: what is in tables counts, and what has no text of its own is refused, in sweeps and in checkpoints.
local mr = require "moonrank"
local test = require "moonrank.test"
local describe, it, equal, raises = test.describe, test.it, test.equal, test.raises
local text = require("moonrank.settings").text

local function nothing() return {} end

describe("settings", function()
  it("are what stores have of numbers, texts, flags and lists", function()
    for _, case in ipairs{ { 3, "3" }, { 0.5, "0.5" }, { "a", "a" }, { true, "true" }, { {}, "{}" },
      { { "none", "minmax" }, "none,minmax" } } do
      equal(text("mr.sweep", "of", case[1]), case[2])
    end
  end)
  it("have equal texts exactly where the values are equal", function()
    local losses, optim, schedule = mr.losses, mr.optim, mr.schedule
    local function linear(seed) return mr.models.linear{ inputs = 3, seed = seed } end
    local makers = {
      function() return 1 end, function() return "1" end, function() return { 1 } end, function() return { "1" } end,
      function() return 0.1 + 0.2 end, function() return 0.3 end, function() return true end, function() return "true" end,
      function() return {} end, function() return "" end, function() return "{}" end, function() return { "a", "b" } end,
      function() return "a,b" end, function() return { "a,b", "c" } end, function() return { "a", "b,c" } end,
      function() return { [1] = 1, x = 1 } end, function() return { ["1"] = 1, x = 1 } end, function() return "nil" end,
      function() return losses.ndcg{} end, function() return losses.ndcg{ gain = 2 } end,
      function() return losses.ndcg{ bound = "minmax" } end,
      function() return losses.ndcg{ gain = 1 + 1e-9 } end, function() return losses.warp{ trials = 3 } end,
      function() return losses.warp{ trials = 4 } end, function() return losses.approx_ndcg{ alpha = 10 } end,
      function() return optim.adam{ lr = 0.01 } end, function() return optim.adam{ lr = 0.01 + 1e-12 } end,
      function() return schedule.step{ every = 2, factor = 0.5 } end, function() return schedule.step{ every = 2, factor = 0.5 + 1e-9 } end,
      function() return schedule.warmup{ steps = 2 } end,
      function() return schedule.warmup{ steps = 2, after = schedule.cosine{ low = 0.1 } } end,
      function() return mr.clip_gradients{ norm = 1 } end, function() return mr.clip_gradients{ norm = 1 + 1e-9 } end,
      function() return mr.metrics.ndcg{ gain = "linear" } end, function() return mr.metrics.parse "ndcg" end,
      function() return linear(1) end, function() return linear(2) end, function() return mr.tensor{ 1, 2 } end,
    }
    local seen = {}
    for i, make in ipairs(makers) do
      local found = text("mr.sweep", "of", make())
      equal(found, text("mr.sweep", "of", make()), "value " .. i)
      equal(seen[found], nil, ("values %d and %s are both %s"):format(i, seen[found], found))
      seen[found] = i
    end
    local unlike = mr.lists{ { 1, 0 } }
    local ratings = mr.data.synthetic{ kind = "ratings", users = 30, items = 60, mean_activity = 20, seed = 3 }
    local folds = ratings:binarize(4):min_relevant(4):folds{ k = 2, seed = 3 }
    for _, two in ipairs{  -- objects whose printed text is the same
      { mr.data.scored(mr.tensor{ 1, 2 }, unlike), mr.data.scored(mr.tensor{ 2, 1 }, unlike) },
      { mr.models.popularity{ fold = folds[1] }, mr.models.popularity{ fold = folds[2] } },
      { mr.models.item_knn{ fold = folds[1] }, mr.models.item_knn{ fold = folds[2] } },
    } do
      local texts = {}
      for i, each in ipairs(two) do
        local ok, found = pcall(text, "mr.sweep", "of", each)
        texts[i] = ok and found or "refused " .. i
      end
      equal(texts[1] ~= texts[2], true, texts[1])
    end
    raises(function() text("mr.sweep", "of", losses.ndcg{ bound = function(score) return score * 2 end }) end, "function")
    local moved = linear(1)
    local before = text("mr.sweep", "of", moved)
    moved:parameters()[1]:requires_grad()
    moved(({ lists = mr.lists{ { 1, 0 } }, features = mr.ones(2, 3) })):sum():backward()
    optim.sgd{ lr = 1 }:bind(moved:parameters()):step()
    equal(text("mr.sweep", "of", moved) ~= before, true, "a model is its parameters, too")
  end)
  it("have what is in tables, in the order of its keys", function()
    equal(text("mr.sweep", "of", { layers = { 8, 16 }, bias = true }), "{bias = true, layers = {8,16}}")
    equal(text("mr.sweep", "of", { { 1, 2 }, { 3 } }), "{1,2},{3}")
    equal(text("mr.sweep", "of", { 1, nil, 3 }), "{[1] = 1, [3] = 3}")
    local numbers = mr.zeros(1000):totable()
    local before = text("mr.sweep", "of", { mr.tensor(numbers) })
    numbers[500] = 1
    equal(text("mr.sweep", "of", { mr.tensor(numbers) }) ~= before, true)
  end)
  it("are refused where they do not say what they are", function()
    local round = {}
    round.round = { round }
    for _, case in ipairs{ { print, "is or holds a function" }, { { a = { nothing } }, "is or holds a function" },
      { setmetatable({}, {}), "is or holds a table" }, { io.stdout, "is or holds a userdata" }, { round, "contains itself" },
      { { [true] = 1 }, "has a boolean as a key" } } do
      raises(function() text("mr.sweep", "of", case[1]) end, "mr.sweep: setting 'of' " .. case[2])
    end
  end)
  it("that change within a table are noticed by sweeps and checkpoints", function()
    local path = os.tmpname()
    os.remove(path)
    local function sweep(settings)
      return mr.sweep{ name = "a", store = path .. ".db", metric = "v", workers = 0, settings = settings, space = { x = mr.choice{ 1 } },
        direction = "maximize", run = function() return { v = 1 } end, progress = false }
    end
    local function keep(settings) return mr.checkpoint(path, settings, nothing) end
    for _, kept in ipairs{ sweep, keep } do
      kept{ model = { factors = 32 } }
      kept{ model = { factors = 32 } }
      raises(function() kept{ model = { factors = 64 } } end, "factors = 64")
      raises(function() kept{ model = nothing } end, "setting 'model' is or holds a function")
    end
    os.execute("rm -rf " .. path .. "*")
  end)
end)
