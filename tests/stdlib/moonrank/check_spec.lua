-- Tests errors about options: their words, and the line of the script that they name.
local mr = require "moonrank"
local test = require "moonrank.test"
local options = require "moonrank.check"
local describe, it, check, equal, raises = test.describe, test.it, test.check, test.equal, test.raises

local known = { "none", "minmax", "expectation", "expectation_max", "distribution" }

describe("check.nearest", function()
  it("finds a name with a missing, an extra, a wrong or two swapped letters", function()
    for _, name in ipairs{ "minmx", "minmaxx", "minmux", "mimnax" } do equal(options.nearest(name, known), "minmax") end
    equal(options.nearest("expectaton", known), "expectation")
  end)

  it("returns nil if no name is close", function()
    for _, name in ipairs{ "zzzzzz", "", "x", "ab" } do equal(options.nearest(name, known), nil) end
    equal(options.nearest("a", {}), nil)
  end)
end)

describe("errors name the function that the script called", function()
  local scores, lists = mr.tensor{ 2, 1 }, mr.lists{ { 0, 1 } }
  local queries = mr.data.synthetic{ queries = 9, features = 2, kind = "queries" }
  local ratings = mr.data.synthetic{ kind = "ratings", users = 30, items = 90 }
  local without = mr.data.dataset{ lists = lists }
  local function ranked() return mr.evaluate(scores, lists, { "rr" }) end

  it("if the C++ core raises them", function()
    raises(function() mr.evaluate(scores, lists, { "ndcg@0" }) end, "mr.evaluate", "'k'", "0")
    raises(function() mr.losses.lambdarank{ metric = "rbp(2)" } end, "mr.losses.lambdarank", "'p'", "2")
    raises(function() mr.bounds.of "ndcg@x" end, "mr.bounds.of", "'metric'", "'ndcg@x'")
    for _, f in ipairs{ mr.stats.kde, mr.experiment.over_lists } do
      raises(function() f{ 1, x = 2 } end, f == mr.stats.kde and "mr.stats.kde" or "mr.experiment.over_lists", "'x'")
    end
  end)

  it("if a function that serves many others raises them", function()
    for _, name in ipairs{ "letor", "csv", "interactions", "trec_run", "citeulike", "item_features" } do
      raises(function() mr.data[name](42) end, "mr.data." .. name .. ":", "path", "42")
      raises(function() mr.data[name] "no/such/file" end, "mr.data." .. name .. ":", "no/such/file")
    end
    raises(function() mr.bounds.weights(42) end, "mr.bounds.weights:", "metric", "42")
    raises(function() mr.metrics.recall{} end, "mr.metrics.recall:", "k")
    raises(function() queries:concat(without) end, "concat:", "features")
    raises(function() mr.experiment.table{ columns = { { "A", "a" } }, records = {}, within = { "B" } } end,
      "mr.experiment.table:", "within", "'B'")
  end)

  it("in mr.experiment and mr.stats", function()
    for _, value in ipairs{ "x", true } do
      for _, name in ipairs{ "over_lists", "over_runs", "distribution" } do
        raises(function() mr.experiment[name](value) end, "mr.experiment." .. name, tostring(value))
      end
      raises(function() mr.experiment.are(value) end, "mr.experiment.are", "n", tostring(value))
      raises(function() mr.stats.mean(value) end, "mr.stats.mean", "x", tostring(value))
      raises(function() mr.args(value) end, "mr.args", "options", tostring(value))
    end
    raises(function() mr.experiment.so_far{} end, "mr.experiment.so_far", "studies", "nil")
  end)

  it("in methods", function()
    raises(function() ratings:folds() end, "ratings:folds", "binarize")
    raises(function() return ratings:binarize(4):folds()[9] end, "ratings:folds", "fold", "9")
    raises(function() queries:batches{ size = 0 } end, "dataset:batches", "size", "0")
    raises(function() queries:log1p(7) end, "dataset:log1p", "columns", "7")
    raises(function() queries:fill "most" end, "dataset:fill", "with", "'most'")
    for _, value in ipairs{ 7, {} } do
      raises(function() queries:standardize(value) end, "dataset:standardize", "scaling", options.found(value))
    end
    raises(function() without:standardize() end, "dataset:standardize", "dataset", "no features")
    raises(function() ranked():plot(7) end, "evaluation:plot", "options", "7")
    local model = mr.models.mf{ users = 2, items = 2 }
    raises(function() model:restore{} end, "model:restore", "snapshot")
    raises(function() model:put{} end, "model:put", "by_name", "nil")
    raises(function() model:snapshot(7) end, "model:snapshot", "into", "7")
  end)
end)

describe("checks of options", function()
  it("refuse a seed that is not an integer in every function", function()
    local queries = mr.data.synthetic{ queries = 9, features = 2, kind = "queries" }
    local faces = mr.data.drawn_faces{ count = 20, size = 8 }
    local ratings = mr.data.synthetic{ users = 30, items = 90, mean_activity = 12 }:binarize(4)
    local takers = {
      ["mr.data.synthetic"] = mr.data.synthetic, ["mr.data.drawn_faces"] = mr.data.drawn_faces,
      ["mr.models.random"] = mr.models.random, ["mr.fit"] = mr.fit, ["mr.sweep"] = mr.sweep,
      ["mr.stats.bootstrap"] = function(o) mr.stats.bootstrap({ 1, 2, 3 }, o) end,
      ["mr.stats.permutation"] = function(o) mr.stats.permutation({ 1, 2 }, { 2, 3 }, o) end,
      ["mr.uniform"] = function(o) mr.uniform({ 2 }, o) end,
      ["mr.models.mf"] = function(o) mr.models.mf{ users = 2, items = 2, seed = o.seed } end,
      batches = function(o) queries:batches(o) end, split = function(o) queries:split(o) end,
      folds = function(o) ratings:folds(o) end,
      comparisons = function(o) faces:comparisons{ pairs = 3, seed = o.seed } end,
    }
    for name, take in pairs(takers) do
      for found, seed in pairs{ ["1.5"] = 1.5, ["2.0"] = 2.0, ["'2'"] = "2", inf = math.huge } do
        raises(function() take{ seed = seed } end, name, "seed", found)
      end
    end
  end)

  it("name the nearest choice if a choice is wrong", function()
    equal(options.choice("f", "ties", "mean", { "mean", "stable" }), "mean")
    local choices = { "stable", "mean" }
    raises(function() options.choice("f", "ties", "stabel", choices) end, "ties", "'stabel'", "'stable'")
    equal(choices, { "stable", "mean" })
  end)

  it("raise errors at the line of the script", function()
    local line = debug.getinfo(1, "l").currentline + 1
    local message = raises(function() options.fail("bad %d%%", 3) end, "bad 3%")
    equal(message, ("%s:%d: bad 3%%"):format(debug.getinfo(1, "S").short_src, line))
    raises(function() options.fail("100% sure") end, "100% sure")
  end)
end)

describe("checks of arguments", function()
  it("return the value if it is allowed", function()
    equal(options.expect(true, "f", "x", 3, "a number"), 3)
    equal(options.not_empty("f", "x", { 1 }, "number"), { 1 })
    equal(options.distinct("f", "x", { "a", "b" }), { a = 1, b = 2 })
    equal(options.numbers("f", "x", { 1, 2.5 }, 3), { 1, 2.5 })
    options.length("f", "x", 2, 2, "one for each list")
    options.indices("f", "x", { 1, 3 }, 3, "row number")
    options.leave_out("f", "x", nil, "it has no effect")
  end)

  it("name the function, the argument and the value otherwise", function()
    for _, case in ipairs{
      { "expect", { false, "f", "x", "a", "at least %d", 3 }, "'a'", "at least 3" },
      { "not_empty", { "f", "x", {}, "number" }, "empty", "number" },
      { "distinct", { "f", "x", { 1, 2, 1 } }, "1", "twice" },
      { "by_name", { "f", "grade", { a = 1, [3] = 2 } }, "grade", "3", "text" },
      { "by_name", { "f", "grade", { a = "b" }, function(x) return x == 1 end, "one" }, "grades.a", "'b'", "one" },
      { "numbers", { "f", "x", { 1, "2" } }, "2", "'2'" },
      { "numbers", { "f", "x", { 1, -4 }, 3 }, "2", "-4", "3" },
      { "numbers", { "f", "x", 7 }, "7" },
      { "length", { "f", "x", 1, 2, "one for each list" }, "1", "2", "list" },
      { "indices", { "f", "x", { 1, 4 }, 3, "row number" }, "2", "4", "3" },
      { "indices", { "f", "x", { 1.0 }, 3, "row number" }, "1", "1.0" },
      { "leave_out", { "f", "x", false, "it needs %s", "y" }, "false", "y" },
      { "new_name", { "f", "two words" }, "name", "'two words'" },
      { "new_name", { "f", "mf", "a model" }, "name", "'mf'", "model" },
      { "path", { "f", "", "x" }, "''" },
      { "one_per", { "list", "f x", mr.ones(2, 2), 2 }, "{2, 2}", "2" },
    } do
      local message = raises(function() options[case[1]](table.unpack(case[2])) end, "f", table.unpack(case, 3))
      check(message:find("x", 1, true) or case[1] == "new_name", message)
    end
  end)

  it("show values in errors: texts in quotation marks, NaN, short lists and classes", function()
    local shown = {}
    for i, value in ipairs{ "a", 1.0, 0 / 0, true, { 1, "b" }, {}, mr.ones(1), print } do
      shown[i] = options.found(value)
    end
    equal(shown, { "'a'", "1.0", "NaN", "true", "{1, 'b'}", "a table", "a mr.Tensor {1} float32", "a function" })
  end)
end)

describe("check.field and check.attempt", function()
  local function raising(message) return setmetatable({}, { __index = function() error(message, 0) end }) end

  it("return nil for a missing field, and the results of a call", function()
    equal(options.field(raising "no such field", "x"), nil)
    equal({ options.attempt(function(a) return a, 2 end, 1) }, { true, 1, 2 })
  end)
  it("raise Ctrl-C and out-of-memory errors again", function()
    for _, message in ipairs{ "interrupted", "not enough memory", "s.lua:1: matmul: out of memory",
      "s.lua:1: zeros: out of memory: a tensor of 2.0 MiB does not fit on cpu" } do
      raises(function() options.field(raising(message), "x") end, message)
      raises(function() options.attempt(error, message, 0) end, message)
    end
  end)
end)

describe("check.class", function()
  local Point = options.class("Point")
  function Point:double() return self.x * 2 end
  function Point.get_size(self) return self.x + 1 end
  local p = setmetatable({ x = 4 }, Point)

  it("gives methods, getters and own fields", function() equal({ p.x, p:double(), p.size }, { 4, 8, 5 }) end)
  it("suggests the nearest field or method for a wrong name", function()
    local folds = mr.data.synthetic{ users = 30, items = 90, mean_activity = 12 }:binarize(4):folds{ k = 2 }
    for name, near in pairs{ trian = "train", evalute = "evaluate", fingerprnt = "fingerprint" } do
      raises(function() return folds[1][name] end, "mr.Fold", name, near)
    end
  end)
  it("raises an error for other fields", function() raises(function() return p.y end, "Point", "'y'") end)
end)

-- Computing suggestions for a misspelt name once took a minute for such long names.
it("mr refuses unknown names of ten million letters within seconds", function()
  local long, began = ("x"):rep(10000000), os.clock()
  for _, of in ipairs{ mr, mr.losses, mr.ones(2) } do check(not pcall(function() return of[long]() end)) end
  check(os.clock() - began < 10, "seconds: " .. os.clock() - began)
end)
