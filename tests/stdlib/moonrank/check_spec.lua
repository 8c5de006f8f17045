-- Errors about options: their words and the line that they name.
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

-- Suggestions for other libraries' names once took a minute here.
it("mr refuses unknown names of ten million letters within seconds", function()
  local long, began = ("x"):rep(10000000), os.clock()
  for _, of in ipairs{ mr, mr.losses, mr.ones(2) } do check(not pcall(function() return of[long]() end)) end
  check(os.clock() - began < 10, "seconds: " .. os.clock() - began)
end)
