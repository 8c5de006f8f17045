-- Tests metrics with a cutoff on all items: they need only the first candidates of each user, and must equal those
-- computed from the full ranking.
local mr = require "moonrank"
local core = require "moonrank.core"
local test = require "moonrank.test"
local it, equal, check = test.it, test.equal, test.check

local ratings = mr.data.synthetic{ kind = "ratings", users = 60, items = 900, seed = 1 }:binarize(4)
local fold = ratings:folds{ k = 3, seed = 1 }[1]
local names = { "ndcg@20", "ap@20", "recall@20", "rr@5", "hit@10", "precision@20", "f1@3", "rbp@7", "nrbp@9", "dcg@20" }

-- Evaluates while core.first_candidates is replaced by the function `instead`.
local function evaluated(model, metrics, options, instead)
  local own <const> = core.first_candidates
  core.first_candidates = instead
  local ok, found = pcall(fold.evaluate, fold, model, metrics, options)
  core.first_candidates = own
  if not ok then error(found, 0) end
  return found
end

-- Compares a model's metrics with those of lists of all items. Returns true if short lists were used.
local function same_as_all(what, model, metrics, options)
  local own, used = core.first_candidates, false
  local found = evaluated(model, metrics, options, function(...)
    local made = own(...)
    used = used or made ~= nil
    return made
  end)
  local wanted = evaluated(model, metrics, options, function() end)
  equal(found:to_csv{ lists = true }, wanted:to_csv{ lists = true }, what)
  equal(found.users:totable(), wanted.users:totable(), what)
  return used
end

local function changed(model, change)
  local state, values = model:state()
  local by_name = {}
  for i, name in ipairs(state) do by_name[name] = change(values[i]:detach()) end
  model:put(by_name)
  return model
end

local function factors(options)
  options.users, options.items, options.factors, options.seed = ratings.users, ratings.items, 8, 1
  return mr.models.mf(options):to "cpu"
end

it("gives metrics with a cutoff the same bits as lists of all items", function()
  check(same_as_all("inner products", factors{}, names))
  check(same_as_all("cosines", factors{ score = "cosine" }, names, { known = "none" }))
end)

it("gives the same values where scores are tied", function()
  same_as_all("few distinct scores", changed(factors{}, function(x) return (x * 300):long():float() end), names)
  check(not same_as_all("equal scores", changed(factors{}, function(x) return x * 0 end), names), "all are tied")
end)

it("ranks all items for metrics that need them", function()
  check(not same_as_all("no cutoff", factors{}, { "ndcg@20", "ndcg" }))
  check(not same_as_all("an affine bound", factors{}, { { "ndcg@20", bound = "expectation" } }))
  check(not same_as_all("other ties", factors{}, { "ndcg@20" }, { ties = "worst" }))
end)
