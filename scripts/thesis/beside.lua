-- Experiments other than Table 5.1 share this module: all data sets by their names, and decisions that Table 5.1 does
-- not need. It also has all functions of training.lua. A decision is this project's unless its comment names a section
-- of the thesis.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local M, figure = dofile(here .. "training.lua"), dofile(here .. "figure.lua")
local protocol = M.protocol

-- `M.published` has the names of the bounds that the thesis defines and "none" (no bound), `M.own` the names of this
-- project's bounds.
M.published, M.own = { table.unpack(M.bounds, 1, 5) }, { table.unpack(M.bounds, 6) }

M.add_rates [[
mq2008    ndcg 0.01 0.01 0.01 0.01 0.01 0.01 0.01
mq2008    ap   0.01 0.01 0.01 0.01 0.01 0.003 0.01
mq2008    nrbp 0.003 0.01 0.003 0.003 0.003 0.003 0.001
citeulike ndcg 0.003 0.003 0.003 0.003 0.03 0.003 0.003
citeulike ap   0.003 0.003 0.003 0.003 0.003 0.003 0.003
citeulike nrbp 0.003 0.003 0.003 0.003 0.003 0.003 0.003
mslr      ndcg 0.03 0.01 0.01 0.01 0.001 0.03 0.03
mslr      ap   0.01 0.003 0.03 0.003 0.01 0.03 0.01
mslr      nrbp 0.03 0.001 0.001 0.001 0.001 0.001 0.003
clueweb   ndcg 0.01 0.01 0.01 0.01 0.01 0.03 0.03
clueweb   ap   0.03 0.03 0.03 0.03 0.03 0.003 0.03
clueweb   nrbp 0.01 0.03 0.03 0.03 0.03 0.03 0.03
]]

-- Data sets --------------------------------------------------------------------------------------------------------

---Functions by name of the data set that make it from ratings, or from folds of queries and the number of features.
M.sets = { movielens = protocol.sets.movielens, mq2008 = protocol.sets.mq2008 }
---CiteULike: the articles of a user's library are relevant; rates are chosen at NSR 1 only, to save time.
function M.sets.citeulike(ratings)
  local set = protocol.of_users(ratings:binarize(1))
  set.tuning_values = { 1 }
  return set
end
---The MSLR slice has few, long lists: minibatches of 4 queries, so that an epoch has about as many steps as on MQ2008.
function M.sets.mslr(folds, features)
  local set = protocol.of_queries(folds, features)
  set.batch, set.rates = 4, { 0.001, 0.003, 0.01, 0.03 }
  return set
end
---ClueWeb09 has minibatches and rates like the MSLR slice. Rates are chosen on all folds, because a fold has only about
---ten test queries.
function M.sets.clueweb(folds, features)
  local set = M.sets.mslr(folds, features)
  set.tuning = set.folds
  return set
end
---Share of training queries held out for validation where published folds have no validation part (ClueWeb09).
M.valid_share = 0.2

-- Each data set has a title and a folder. A data set of queries also has options of mr.experiment.queries.
M.names = { "movielens", "mq2008", "citeulike", "mslr", "clueweb" }
local sources = {
  movielens = { "MovieLens" }, citeulike = { "CiteULike-a", "citeulike-a" },
  mq2008 = { "MQ2008", "mq2008", { features = 46 } },
  mslr = { "MSLR slice", "mslr-web-slice", { features = 136 } },  -- the slice has 102 queries of MSLR-WEB30K
  clueweb = { "ClueWeb09", "clueweb09-ltr", { features = 42, valid = M.valid_share } },
}

---Returns the title of a data set, or of the made-up data in its place (--smoke).
function M.title(name, smoke)
  local title, _, o = table.unpack(sources[name])
  return not smoke and title or o and ("made-up queries of %d features"):format(o.features) or "made-up ratings"
end

local function opened(args, name)
  if name == "movielens" then return M.movielens(args) end
  local _, folder, o = table.unpack(sources[name])
  local data
  if o then
    o.queries, o.mean_size = 120, 12
    data = mr.experiment.queries(args, folder, o)
  elseif args.smoke then
    data = mr.data.synthetic{ kind = "ratings", users = 60, items = 400 }:binarize(4)
  else
    data = mr.data.citeulike(mr.experiment.place(args, folder))
  end
  local set = M.named(args, M.sets[name](data, o and o.features), name, M.title(name, args.smoke))
  set.said = figure.said(set.title)
  return set
end

local cache = mr.experiment.cache()

---Opens a data set by its name, with the options of --data and --smoke. Its files are read only once.
function M.set(args, name)
  cache[name] = cache[name] or opened(args, name)
  return cache[name]
end

---The runs of a data set under one seed, at all settings, losses, bounds and folds, as in Table 5.1.
function M.of(args, name, seed) return M.sweep(args, M.set(args, name), { seed = seed }) end

---Returns a value of a data set's setting as text: "NSR 2", "label 1", or "the highest label" if the highest label of
---each query is relevant.
function M.setting_text(set, value)
  return value == "top_of_list" and "the highest label" or ("%s %s"):format(set.head, value)
end

-- Choice of learning rates ------------------------------------------------------------------------------------------

---NSR 1 or labels from 1; largest number of epochs; epochs without a better metric after which training ends.
M.beside = { value = 1, epochs = 60, patience = 10 }
---Returns the rate, or exponent, with the highest validation metric, and of several with the same metric the smallest.
---Returns nil for an empty table.
function M.choose(valid)
  local best
  for setting, value in pairs(valid) do
    if not best or value > valid[best] or value == valid[best] and setting < best then best = setting end
  end
  return best
end
---Rates to try with each optimizer, 10^(exponent / 2): powers of ten first, then neighbours of the best. SGD needs a
---wide grid, because gradients under bounds differ by orders of magnitude. Adam "requires little tuning" (4.3).
M.grids = { adam = { -6, -4, -2 }, sgd = { -6, -4, -2, 0, 2, 4, 6, 8 } }
M.steps = { -1, 1 }
function M.rate(exponent) return 10 ^ (exponent / 2) end
---True for a difference from the best validation metric that counts as none.
function M.near(difference) return math.abs(difference) <= protocol.close end

-- Statistics: the thesis has no statistical tests --------------------------------------------------------------------

---Seeds of splits, negatives and models under which claim.lua tests whether a bound is better than others.
M.seeds = { 1, 2, 3 }
---Compares values of the same users or queries: their means, mean change from `b` to `a`, p-value of a permutation test
---of signs, effect size `d`, number of pairs `n`, and share of pairs where `a` wins.
function M.change_of(a, b)
  local test, effect = mr.stats.permutation(a, b, { orders = 100000 }), mr.stats.effect_size(a, b)
  return { mean = mr.stats.mean(a), other_mean = mr.stats.mean(b), change = test.mean_difference, p = test.p,
    d = effect.d, n = test.n, wins = effect.wins }
end
---A copy of `where`, a filter of training runs by their parameters, that also selects the bound.
function M.with(where, bound)
  local at = {}
  for key, value in pairs(where) do at[key] = value end
  at.bound = bound
  return at
end
---Holm's correction, over all comparisons of a table, unless a script says otherwise.
M.correct = mr.stats.holm
---1 for a change that is significantly better, -1 for a worse one, else 0.
function M.side(change, p)
  if p < protocol.level then return change > 0 and 1 or -1 end
  return 0
end
---The verdict on the claim that a bound is better than `of` others, of which it is `better` than some in the mean, and
---significantly better or worse than some.
function M.verdict(count)
  if count.surely_better == count.of then return "holds" end
  if count.surely_worse > 0 then return "contradicted" end
  return count.better == count.of and "in the mean only" or "not shown"
end

return M
