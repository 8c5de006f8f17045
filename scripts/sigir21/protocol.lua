-- The protocol of Li, Urbano & Hanjalic (2021), sections 4.1 and 4.2: data sets and their splits, the model and the
-- metrics. Sections are those of the paper. recipes.lua has the decisions about training, analysis.lua those of the
-- figures. docs/protocols.md lists all decisions with their tests.
local mr = require "moonrank"

local M = {}

---Negative sampling ratios (NSR): numbers of sampled negative items per relevant item, in train and test.
M.nsr = { 1, 2, 5 }

---A data set of random splits, of users with at least 25 relevant items; 80 % of a user's relevant items are in train.
---fold(split, nsr, valid) makes a split; `valid` is the share of train that becomes the validation part.
function M.random_splits(title, ratings, splits)
  ratings = ratings:min_relevant(25)
  return { title = title, splits = splits or { 1, 2, 3 }, users = ratings.users, items = ratings.items,
    fold = function(split, nsr, valid)
      return ratings:folds{ by = "share", k = 3, test = 0.2, nsr = nsr, valid = valid }[split]
    end }
end

---A data set of the authors' splits in a folder: fold_0, fold_1, ..., whose files have relevant rows only.
function M.given_splits(title, folder, splits)
  local ratings = {}
  for _, split in ipairs(splits) do
    local function file(part) return ("%s/fold_%d/%s.csv"):format(folder, split, part) end
    ratings[split] = mr.data.interactions({ train = file "train", test = file "test" },
      { columns = { rating = false } }):binarize(1)
  end
  return { title = title, splits = splits, users = ratings[splits[1]].users, items = ratings[splits[1]].items,
    fold = function(split, nsr, valid) return ratings[split]:folds{ by = "given", nsr = nsr, valid = valid }[1] end }
end

---One split of made-up ratings of a few users, in place of the data set `name`.
function M.made_up(name, seed)
  local ratings = mr.data.synthetic{ kind = "ratings", users = 60, items = 400, seed = seed }:binarize(4)
  return M.random_splits("made-up ratings for " .. name, ratings, { 1 })
end

---CiteULike-a on the authors' own splits; with --smoke made-up ratings.
function M.citeulike(args)
  if args.smoke then return M.made_up("citeulike", 1) end
  return M.given_splits("CiteULike-a, published splits", mr.experiment.place(args, "citeulike-a"), { 0, 1 })
end

---Matrix factorisation with 32 factors, the best of 8 to 128 (4.2). Initial values are those of the authors' code.
M.factors = 32
function M.model(set, factors, seed)
  return mr.models.mf{ users = set.users, items = set.items, factors = factors or M.factors, init = 0.01, seed = seed }
end

---Metrics that judge every model. nDCG@5 is in the authors' results but not in the paper.
M.metrics = { "rr", "ap", "ndcg", "ndcg@5", "rbp(0.8)", "rbp(0.9)", "rbp(0.95)" }

---The metrics that choose epoch and rate for a loss: its own one. Listwise nRBP has three, and so one training run
---gives three models.
function M.own_metrics(loss)
  if loss == "nrbp" then return { "rbp(0.8)", "rbp(0.9)", "rbp(0.95)" } end
  return { (loss:gsub("^nrbp", "rbp")) }
end

---The largest difference from a published number that counts as none. Scores of different folds differ by about 0.001.
M.close = 0.003
function M.near(difference) return math.abs(difference) <= M.close end

return M
