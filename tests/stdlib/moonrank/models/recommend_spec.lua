-- Tests recommendations of factor models, which are computed by one matrix product: items and scores must equal those
-- computed row by row.
local mr = require "moonrank"
local core = require "moonrank.core"
local test = require "moonrank.test"
local it, equal = test.it, test.equal

-- Returns a dataset in which each of so many users has `each` items, drawn with replacement.
local function seen_by(users, items, each)
  local drawn = core.uniform({ users * each }, 1, items + 1, 1, "seen", "float64", "cpu"):to "int64"
  local sizes = {}
  for user = 1, users do sizes[user] = each end
  return mr.data.dataset{ lists = mr.lists{ relevance = mr.ones(users * each, { device = "cpu" }), sizes = sizes },
    users = core.arange(1, users, 1, "int64", "cpu"), items = drawn, name = "seen" }
end

-- Compares the model's recommendations with those of a model of a script, whose scores are computed row by row.
local function same_as_by_rows(what, model, options)
  local names, values = model:state()
  local parameters = {}
  for i, name in ipairs(names) do parameters[name] = values[i]:detach() end
  mr.models.define("by_rows", {
    required = { users = "integer", items = "integer", factors = "integer" },
    parameters = function(o)
      return { users = mr.zeros({ o.users, o.factors }), items = mr.zeros({ o.items, o.factors }) }
    end,
    forward = function(self, batch)
      return batch.lists:factor_scores(self.users, self.items, batch.users, batch.items)
    end,
  })
  local config = model.config
  local other = mr.models.by_rows{ users = config.users, items = config.items, factors = config.factors }:to "cpu"
  other:put(parameters)
  local found, wanted = model:recommend(options), other:recommend(options)
  equal(found.sizes:totable(), wanted.sizes:totable(), what)
  equal(found.items:totable(), wanted.items:totable(), what)
  -- the text of a number also shows the sign of a zero
  equal(tostring(found.scores), tostring(wanted.scores), what)
  equal(found.scores:totable(), wanted.scores:totable(), what)
end

local users, items = 20, 1500

it("recommends the same bits by one product as by scores of all rows, for every width", function()
  for _, factors in ipairs{ 1, 7, 32, 33, 130 } do
    local model = mr.models.mf{ users = users, items = items, factors = factors, seed = factors }:to "cpu"
    same_as_by_rows(factors .. " factors", model, { k = 50, seen = seen_by(users, items, 30) })
    same_as_by_rows(factors .. " factors, all items", model, { k = 3 })
  end
end)

it("recommends tied items by their numbers, and all that are left", function()
  local model = mr.models.mf{ users = users, items = items, factors = 3, seed = 1 }:to "cpu"
  local function put(change)
    local names, values = model:state()
    local by_name = {}
    for i, name in ipairs(names) do by_name[name] = change(values[i]:detach()) end
    model:put(by_name)
  end
  put(function(x) return (x * 300):long():float() end)  -- makes few distinct scores, thus many ties
  same_as_by_rows("few distinct scores", model, { k = 100, seen = seen_by(users, items, 100) })
  put(function(x) return x * 0 end)
  same_as_by_rows("equal scores", model, { k = 100, seen = seen_by(users, items, 100) })
  same_as_by_rows("few items left", model, { k = 180, seen = seen_by(users, items, 4000) })
  put(function(x) return x + 1e30 end)
  same_as_by_rows("infinite scores", model, { k = 10 })
end)

it("says that scores are NaN, as for other models", function()
  local model = mr.models.mf{ users = users, items = items, factors = 2 }:to "cpu"
  local names, values = model:state()
  model:put{ [names[1]] = values[1]:detach() * (0 / 0), [names[2]] = values[2]:detach() }
  test.raises(function() model:recommend{ k = 3 } end, "scores", "NaN")
end)
