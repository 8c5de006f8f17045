-- Decisions of this project that Li & Wu do not describe, for the systems (rankers and classifiers) of their Table 1:
-- which systems are compared, and how differences are tested. Numbers in parentheses in comments, such as (4.1), are
-- sections of the paper.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local queries = dofile(here .. "queries.lua")
local protocol = queries.protocol

local M = { queries = queries }

-- Maps each classifier to the ranker with the same kind of model (section 4.1 of Li & Wu): network, logistic regression
-- or boosted trees.
local ranker_of = { ["Class NN"] = "RankNet", ["Class LR"] = "Rank LR", ["Class Boost"] = "LambdaMART" }

---Returns the pairs of systems to compare on a data set (4.1, 5), each with its reasons as fields that are true:
---"families" (a classifier with the ranker of its kind), "best" (the best classifier on validation with the best
---ranker, without networks at the paper's rate), "Adam and sgd", and "Adam and paper". A pair with two reasons is one
---comparison.
---@param valid table<string, number>  validation value by title of the system
function M.comparisons(valid)
  local found, known, best = {}, {}, {}
  local function add(reason, a, b)
    local key = a .. "\0" .. b
    local pair = known[key] or { a = a, b = b }
    found[#found + 1], known[key] = not known[key] and pair or nil, pair
    pair[reason] = true
  end
  for _, system in ipairs(protocol.systems) do
    local ranker, of_kind = ranker_of[system.name], best[system.kind]
    if ranker then add("families", system.title, protocol.title(ranker, system.recipe)) end
    local can_be = system.recipe ~= "paper" and (not of_kind or valid[system.title] > valid[of_kind])
    best[system.kind] = can_be and system.title or of_kind
  end
  add("best", best.classification, best.ranking)
  for _, system in ipairs(protocol.systems) do
    for _, recipe in ipairs(system.recipe == "adam" and { "sgd", "paper" } or {}) do
      add("Adam and " .. recipe, system.title, protocol.title(system.name, recipe))
    end
  end
  return found
end

---Compares systems on all data sets, paired by query. Holm's correction is over all comparisons together. The result
---has the fields of M.comparisons and of mr.experiment.paired, and the data set (`data`).
---@param sets { values: table<string, number[]>, valid: table<string, number> }[]  by title: test queries, validation
function M.compare(sets)
  local pairs_of = {}
  for _, data in ipairs(sets) do
    for _, each in ipairs(M.comparisons(data.valid)) do
      each.data, each[1], each[2] = data, data.values[each.a], data.values[each.b]
      pairs_of[#pairs_of + 1] = each
    end
  end
  return mr.experiment.paired(pairs_of)
end

---True if a p-value, corrected for multiple tests, is below 0.05.
function M.significant(p) return p < 0.05 end

return M
