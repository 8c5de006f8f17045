-- RankBoost (Freund, Iyer, Schapire & Singer 2003): does boosting on the pairs that are still in the wrong order
-- make a good ranker?
-- Each round adds a binary ranker h, "feature above threshold", at weight log((1 + r) / (1 - r)) / 2. It is the h
-- with the largest |r|, where r is the sum of h(better row) - h(worse row) over all pairs, weighted by pair.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local common = dofile(here .. "common.lua")

local args = common.options{ rounds = { default = 100, least = 1, help = "thresholds that are added" } }
-- thresholds of the standardised features, in standard deviations
local cuts = { -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3 }

-- Returns a matrix [rows, features * cuts] of binary rankers: 1 if the row's feature is above the threshold, else 0.
local function thresholds(set)
  local parts = {}
  for i, cut in ipairs(cuts) do parts[i] = set.features:gt(cut):double() end
  return mr.cat(parts, 2)
end

-- Returns, for every pair of rows with unequal grades in a list, the number of the row with the higher grade and
-- the number of the row with the lower grade.
local function pairs_of(lists)
  local better, worse, first, grades = {}, {}, 1, lists.relevance:totable()
  for _, n in ipairs(lists.sizes:totable()) do
    for i = first, first + n - 1 do
      for j = first, first + n - 1 do
        if grades[i] > grades[j] then better[#better + 1], worse[#worse + 1] = i, j end
      end
    end
    first = first + n
  end
  return mr.tensor(better, { dtype = "int64" }), mr.tensor(worse, { dtype = "int64" })
end

return common.compare(args, function(train, tested)
  local better, worse = pairs_of(train.lists)
  local weak, tested_weak = thresholds(train), thresholds(tested)
  local scores = mr.zeros(train.lists.rows, { dtype = "float64" })
  local tested_scores = mr.zeros(tested.lists.rows, { dtype = "float64" })
  for _ = 1, args.rounds do
    local weights = (scores:rows(worse) - scores:rows(better)):softmax(1)
    local none = mr.zeros(train.lists.rows, { dtype = "float64" })
    local potential = none:scatter_add(1, better, weights) - none:scatter_add(1, worse, weights)
    local r = potential:reshape(1, #potential):matmul(weak):reshape(weak:size(2))
    local best = r:abs():argmax(1):item()
    local value = math.max(-1 + 1e-9, math.min(1 - 1e-9, r[best]:item()))
    local alpha = 0.5 * math.log((1 + value) / (1 - value))
    scores = scores + weak:narrow(2, best, 1):reshape(#scores) * alpha
    tested_scores = tested_scores + tested_weak:narrow(2, best, 1):reshape(#tested_scores) * alpha
  end
  return { { ("RankBoost, %d rounds"):format(args.rounds), tested_scores } }
end)
