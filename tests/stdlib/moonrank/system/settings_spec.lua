-- Tests how sweeps and checkpoints store settings as texts: tables are compared by contents, and values without a text
-- form are rejected.
local mr = require "moonrank"
local earlier = dofile "tests/support/earlier.lua"
local store = require "moonrank.sweep.store"
local files = require "tests.support.files"
local says = require "tests.support.says"
local test = require "moonrank.test"
local describe, it, equal, raises = test.describe, test.it, test.equal, test.raises
local text = require("moonrank.system.settings").text

local function nothing() return {} end

describe("settings texts", function()
  it("are plain for numbers, strings, booleans and lists", function()
    for _, case in ipairs{ { 3, "3" }, { 0.5, "0.5" }, { "a", "a" }, { true, "true" }, { {}, "{}" },
      { { "none", "minmax" }, "none,minmax" } } do
      equal(text("mr.sweep", "of", case[1]), case[2])
    end
  end)
  it("are equal exactly if the values are equal", function()
    local losses, optim, schedule = mr.losses, mr.optim, mr.schedule
    local function linear(seed) return mr.models.linear{ inputs = 3, seed = seed } end
    local makers = {
      function() return 1 end, function() return "1" end, function() return { 1 } end, function() return { "1" } end,
      function() return 0.1 + 0.2 end, function() return 0.3 end, function() return true end,
      function() return "true" end, function() return {} end, function() return "" end, function() return "{}" end,
      function() return { "a", "b" } end, function() return "a,b" end,
      function() return { "a,b", "c" } end, function() return { "a", "b,c" } end,
      function() return { [1] = 1, x = 1 } end, function() return { ["1"] = 1, x = 1 } end, function() return "nil" end,
      function() return losses.ndcg{} end, function() return losses.ndcg{ steepness = 2 } end,
      function() return losses.ndcg{ bound = "minmax" } end,
      function() return losses.ndcg{ steepness = 1 + 1e-9 } end, function() return losses.warp{ trials = 3 } end,
      function() return losses.warp{ trials = 4 } end, function() return losses.approx_ndcg{ steepness = 10 } end,
      function() return optim.adam{ lr = 0.01 } end, function() return optim.adam{ lr = 0.01 + 1e-12 } end,
      function() return schedule.step{ every = 2, factor = 0.5 } end,
      function() return schedule.step{ every = 2, factor = 0.5 + 1e-9 } end,
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
    for _, two in ipairs{  -- pairs of objects that differ although their printed text is the same
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
    local twice = losses.ndcg{ bound = function(score) return score * 2 end }
    raises(function() text("mr.sweep", "of", twice) end, "function")
    local moved = linear(1)
    local before = text("mr.sweep", "of", moved)
    moved:parameters()[1]:requires_grad()
    moved(({ lists = mr.lists{ { 1, 0 } }, features = mr.ones(2, 3) })):sum():backward()
    optim.sgd{ lr = 1 }:bind(moved:parameters()):step()
    equal(text("mr.sweep", "of", moved) ~= before, true, "a model is its parameters, too")
  end)
  it("contain the contents of tables in the order of their keys", function()
    equal(text("mr.sweep", "of", { layers = { 8, 16 }, bias = true }), "{bias = true, layers = {8,16}}")
    equal(text("mr.sweep", "of", { { 1, 2 }, { 3 } }), "{1,2},{3}")
    equal(text("mr.sweep", "of", { 1, nil, 3 }), "{[1] = 1, [3] = 3}")
    local numbers = mr.zeros(1000):totable()
    local before = text("mr.sweep", "of", { mr.tensor(numbers) })
    numbers[500] = 1
    equal(text("mr.sweep", "of", { mr.tensor(numbers) }) ~= before, true)
  end)
  it("of earlier versions use former option names, also of a bound within a loss", function()
    local bound = mr.bounds.distribution_bound{ steepness = 3, form = "log" }
    local loss = mr.losses.lambdarank{ steepness = 2, bound = bound }
    local now, formerly = text("mr.sweep", "of", { loss = loss }), text("mr.sweep", "of", { loss = loss }, 1)
    equal({ now:find "gain = [23]", formerly:find "steepness" }, {})
    says(formerly, "gain = 2, metric = ", "form = log, gain = 3, kappa = ")
    equal(text("mr.sweep", "of", { steepness = 2 }, 1), "{steepness = 2}", "the script's own tables stay")
  end)
  it("of earlier versions use the former names of a function only in its own options", function()
    local losses = { mr.losses.top_n_rank{ k = 3 }, mr.losses.soft_precision{ k = 4 }, mr.losses.ap{ steepness = 2 } }
    local between, first = text("mr.sweep", "of", losses, 2), text("mr.sweep", "of", losses, 1)
    says(between, "n = 3", "k = 4", "steepness = 2")
    says(first, "n = 3", "k = 4", "gain = 2")
    equal(text("mr.sweep", "of", losses):gsub("k = 3", "n = 3"), between)
  end)
  it("of earlier versions resume sweeps and checkpoints unless a value differs", function()
    local path = files.new_path()
    local loss, other = mr.losses.ndcg{ steepness = 2 }, mr.losses.ndcg{ steepness = 3 }
    local function sweep(of)
      return mr.sweep{ name = "a", store = path .. ".db", metric = "v", workers = 0, settings = { loss = of },
        space = { x = mr.choice{ 1 } }, direction = "maximize", progress = false,
        run = function() return { v = of.pointwise and 1 or 2 } end }
    end
    local function keep(of) return mr.checkpoint(path, { loss = of }, function() return { x = mr.ones(1) } end) end
    local function as_earlier()
      local opened <close> = store.open(path .. ".db", "write")
      local study = opened:study "a"
      opened:columns("UPDATE studies SET settings = 'loss = ndcg{bound = none, gain = 2}' WHERE id = ?1", study.id)
    end
    sweep(loss)
    as_earlier()
    sweep(loss)
    raises(function() sweep(other) end, "gain = 2")
    keep(loss)
    earlier.rewrite(path, "moonrank checkpoint", function() return "ndcg{bound = none, gain = 2}" end)
    equal(select(2, keep(loss)), true)
    raises(function() keep(other) end, "gain", "2", "3")
    local top, larger = mr.losses.top_n_rank{ k = 3 } + loss, mr.losses.top_n_rank{ k = 4 } + loss
    for _, steepness in ipairs{ "steepness", "gain" } do
      os.remove(path)
      keep(top)
      earlier.rewrite(path, "moonrank checkpoint", function(_, was)
        return (was:gsub("k = 3", "n = 3"):gsub("steepness", steepness))
      end)
      equal(select(2, keep(top)), true)
      raises(function() keep(larger) end, "n", "3", "4")
    end
  end)
  it("are compared part by part, with quoted texts, lists and objects of other names", function()
    local differences = require("moonrank.system.settings").differences
    local function parts_of(was, now)
      local function written(value) return text("mr.sweep", "of", { value, 0 }):match "^(.*),0$" end
      local names = {}
      for i, each in ipairs(differences("of", written(was), written(now))) do names[i] = each:match "^%S+" end
      return names
    end
    equal(parts_of({ a = "x}{\"\\", b = { 1, 2 } }, { a = "x}{\"\\", b = { 1, 3 } }), { "of.b[2]" })
    equal(parts_of({ a = "x}, b = 2", b = 1 }, { a = "x}, b = 3", b = 1 }), { "of.a" })
    equal(parts_of({ [1] = 1, ["a b"] = { c = 1 } }, { [1] = 2, ["a b"] = { c = 2 } }), { 'of["a', "of[1]" })
    equal(parts_of({ 1, 2 }, { 1 }), { "of[2]" })
    equal(parts_of({ 1 }, { a = 1 }), { "of.a", "of[1]" })
    equal(parts_of(mr.losses.ndcg{}, mr.losses.ap{}), { "of" })
    equal(parts_of(mr.losses.ndcg{ bound = "minmax" }, mr.losses.ndcg{ steepness = 2 }), { "of.bound", "of.steepness" })
    equal(parts_of({ 1, { 2 } }, { 1, { 2 } }), {})
    says(differences("of", "1", nil, "here")[1], "of", "1", "not set", "here")
    says(differences("of", "00ff00ff00ff00ff", "10ff00ff00ff00ff")[1], "fingerprint", "00ff00ff00ff00ff")
  end)
  it("raise an error for values without a text, like functions", function()
    local round = {}
    round.round = { round }
    for _, case in ipairs{
      { print, "function" },
      { { a = { nothing } }, "function" },
      { setmetatable({}, {}), "table" },
      { io.stdout, "userdata" },
      { round, "itself" },
      { { [true] = 1 }, "boolean" },
    } do
      raises(function() text("mr.sweep", "of", case[1]) end, "mr.sweep", "'of'", case[2])
    end
  end)
  it("make sweeps and checkpoints notice changes within tables", function()
    local path = files.new_path()
    local function sweep(settings)
      return mr.sweep{ name = "a", store = path .. ".db", metric = "v", direction = "maximize", workers = 0,
        settings = settings, space = { x = mr.choice{ 1 } }, run = function() return { v = 1 } end, progress = false }
    end
    local function keep(settings) return mr.checkpoint(path, settings, nothing) end
    for _, kept in ipairs{ sweep, keep } do
      kept{ model = { factors = 32 } }
      kept{ model = { factors = 32 } }
      raises(function() kept{ model = { factors = 64 } } end, "factors", "32", "64")
      raises(function() kept{ model = nothing } end, "'model'")
    end
  end)
end)
