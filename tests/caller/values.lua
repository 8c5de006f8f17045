-- Random arguments for the random caller (a fuzzer), as Lua code: values that functions expect, and unusual ones.
local M = {}

-- Small tensors, lists and other objects of matching sizes: two lists of three rows, six rows, four users, five items.
M.first = {
  { "mr.Lists", "mr.lists{{1, 0, 2}, {0, 1, 0}}" }, { "mr.Lists", "mr.lists{{0, 0, 0}, {1, 1, 1}}" },
  { "mr.Lists", "mr.lists{{2}}" }, { "mr.Lists", "mr.lists{{}, {1, 0}}" }, { "mr.Lists", "mr.lists{}" },
  { "mr.Lists", "mr.lists{{1e30, 1}, {0.5, 0}}" }, { "mr.Lists", "mr.lists{{1, 0, 2, 1, 0, 0}}" },
  { "mr.Tensor", "mr.tensor{0.1, 0.5, 0.2, 3, -1, 0}" },
  { "mr.Tensor", "mr.tensor({1, 2, 3, 3, 1, 2}, {dtype = 'float64'})" },
  { "mr.Tensor", "i64{1, 2, 3, 4, 4, 1}" }, { "mr.Tensor", "i64{1, 2}" }, { "mr.Tensor", "i64{2, 1, 2, 1, 2, 1}" },
  { "mr.Tensor", "mr.uniform({6, 3}, {seed = 1})" }, { "mr.Tensor", "mr.uniform({3, 4}, {seed = 2})" },
  { "mr.Tensor", "mr.uniform({1, 4}, {seed = 2})" }, { "mr.Tensor", "mr.uniform({6, 4}, {seed = 2})" },
  { "mr.Tensor", "mr.uniform({2, 3, 8, 8}, {seed = 3})" }, { "mr.Tensor", "mr.uniform({4, 3, 3, 3}, {seed = 4})" },
  { "mr.Tensor", "mr.uniform({6, 3}, {seed = 5}):requires_grad()" },
  { "mr.Tensor", "mr.uniform({6}, {seed = 6}):requires_grad()" },
  { "mr.Tensor", "(mr.uniform({6}, {seed = 6}):requires_grad() * 2):sum()" },
  { "mr.Tensor", "mr.uniform({40}, {seed = 7, dtype = 'float64'})" },
  { "mr.Tensor", "mr.normal({40}, {seed = 8, dtype = 'float64'})" },
  { "mr.Tensor", "mr.tensor{}" }, { "mr.Tensor", "mr.zeros(0, 3)" },
  { "mr.Tensor", "mr.tensor{0/0, 1, 2, 3, 1/0, -1/0}" }, { "mr.Tensor", "mr.tensor{{1, 2}, {3, 4}}:sum()" },
  { "mr.Tensor", "i64{-1, 0, 1 << 53, 3, 4, 5}" }, { "mr.Tensor", "mr.tensor{1, 0, 1, 1, 0, 0}:eq(1)" },
  { "mr.UserItems", "core.user_items(mr.lists{{1, 0, 2}, {0, 1, 0}}, i64{1, 2}, i64{1, 2, 3, 3, 1, 2}, 4, 5)" },
  { "mr.UserItems", "core.user_items(mr.lists{}, i64{}, i64{}, 4, 5)" },
  { "mr.Positives",
    "core.positives(i64{1,1,1,2,2,2}, i64{1,2,3,1,4,5}, mr.tensor{5,4,3,5,5,4}, i64{}, i64{}, 2, 5, 3.0, 1, false)" },
  { "mr.Positives",
    "core.positives(i64{1,1,2,2}, i64{1,2,1,4}, mr.tensor{5,4,5,5}, i64{4,3,2,1}, i64{1,2,2,1}, 2, 5, 0, 1, true)" },
  { "mr.ItemNeighbours",
    "core.item_neighbours(core.user_items(mr.lists{{1, 0}, {0, 1}}, i64{1, 2}, i64{1, 2, 3, 3}, 4, 5), 2, 1.0)" },
  { "mr.Metric", "core.metric_registry():parse 'ndcg@10'" }, { "mr.Metric", "core.metric_registry():parse 'ap'" },
  { "mr.Metric", "core.metric_registry():parse 'nrbp(0.8)'" }, { "mr.MetricRegistry", "core.metric_registry()" },
  { "mr.DistributionSpec", "core.distribution_spec('cdf', 'auto', 100, 1, 'kappa', 1.0, 1.0)" },
  { "mr.Distribution",
    "core.distribution(core.metric_registry():parse 'ap', nil, nil, {1, 0, 0}, 'auto', 100, 1, 0.0)" },
  { "mr.OptimizerState", "core.optimizer_state{mr.uniform({6, 3}, {seed = 5}):requires_grad()}" },
  { "mr.Ranking", "core.ranking(mr.tensor{0.1, 0.5, 0.2, 3, -1, 0}, mr.lists{{1, 0, 2}, {0, 1, 0}}, 'mean', 1)" },
  { "mr.Database", "core.open_database('', 'memory')" }, { "mr.Tally", "core.tally 'cpu'" },
  { "mr.TreeData", "core.tree_data(mr.uniform({6, 3}, {seed = 1}), mr.lists{{1, 0, 2}, {0, 1, 0}}, 1)", "trees" },
  { "mr.Booster",
    "core.booster(core.tree_data(mr.uniform({6, 3}, {seed = 1}), nil, 1), {'max_depth'}, {'2'})", "trees" },
}

local integers = { "0", "1", "1", "2", "2", "3", "3", "4", "6", "10" }
local wild_integers = { "-1", "-2", "64", "4096", "1 << 31", "1 << 32", "1 << 53", "1 << 62", "math.maxinteger",
  "math.mininteger" }
local numbers = { "0.0", "1.0", "0.5", "2.0", "0.1", "10.0", "0.95" }
local wild_numbers = { "-1.0", "-0.0", "1e-320", "1e-45", "1e38", "1e308", "1/0", "-1/0", "0/0", "2^53 + 1" }
local wild_strings = { '""', '"x"', '"\\0"', '"\\255\\254"', '"%s%n"', '("x"):rep(70000)', '"ndcg@0"',
  '"../x"', '"\\27[31m"' }
local tables = { "{1, 2, 3}", "{{1, 2}, {3, 4}}", "{}", "{{}}", "{{1, 2}, {3}}", "{1, 'x'}", "{0/0}",
  "{[1 << 40] = 1}", "{nil, 2}" }

-- Valid strings for arguments with these names.
M.words = {
  form = { "cdf", "logit" }, method = { "auto", "exact", "sampled", "normal" }, steepness = { "kappa", "samples", "1" },
  by = { "user", "item" },
  activation = { "none", "relu", "tanh" }, statistic = { "mean", "median" }, how = { "zscore", "minmax" },
  what = { "mean", "median" }, dtype = { "float32", "float64", "int64" }, device = { "cpu" }, stream = { "a" },
  metric = { "ndcg@10", "ap", "rr", "nrbp(0.8)" },
  text = { "ndcg@10", "ap", "rr", "dcg", "auc" }, ties = { "mean", "stable", "worst", "trec" },
  mode = { "memory", "read", "write" },
  path = { "letor.txt", "labels.csv", "x.npy", "picture.png", "tensors", "store.db", "new", "folder",
    "fifo", "missing/new" },
  sql = { "create table a(x)", "insert into a values (1)", "select * from a", "select x, ? from a" },
}

function M.pick(random, list) return list[random(#list)] end

local function text_of(word) return ("%q"):format(word):gsub("\n", "n") end

-- Returns a string as an argument: one that is valid for an argument of this name, or one that an earlier error named.
local function a_string(random, name, known)
  if random(12) == 1 then return M.pick(random, wild_strings) end
  local words = M.words[name] or name:find "path" and M.words.path or nil
  if known and #known > 0 and (not words or random(3) == 1) then words = known end
  return text_of(M.pick(random, words or { "a", "b" }))
end

local plain = {
  integer = function(random) return M.pick(random, random(8) == 1 and wild_integers or integers) end,
  number = function(random) return M.pick(random, random(6) == 1 and wild_numbers or numbers) end,
  boolean = function(random) return random(2) == 1 and "true" or "false" end,
  table = function(random) return M.pick(random, tables) end,
}

---The text of a value of this type.
---@param random fun(n: integer): integer
---@param kind string
---@param name string  of the argument
---@param known string[]  words that errors of this function expected
---@param object fun(class: string): string  the text of an object, or "nil"
---@return string
function M.of_type(random, kind, name, known, object)
  local function again(each) return M.of_type(random, each, name, known, object) end
  if random(40) == 1 then
    return M.pick(random, { "nil", "false", "{}", "'x'", "0/0", "1", "print", object "mr.Tensor" })
  end
  if kind:match "%?$" then return random(3) == 1 and "nil" or again(kind:sub(1, -2)) end
  if kind:match "%[%]$" then
    local parts = {}
    for i = 1, random(5) - 1 do parts[i] = again(kind:sub(1, -3)) end
    return "{" .. table.concat(parts, ", ") .. "}"
  end
  if kind:find "|" then
    local kinds = {}
    for each in kind:gmatch "[^|]+" do kinds[#kinds + 1] = each end
    return again(M.pick(random, kinds))
  end
  if kind == "string" then return a_string(random, name, known) end
  if plain[kind] then return plain[kind](random) end
  return object(kind)
end

return M
