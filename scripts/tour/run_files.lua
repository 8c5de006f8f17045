-- Writes a TREC run file and compares it with a run file of another program (--other; by default popularity stands
-- for it). It prints means with intervals, letters for significant differences and LaTeX, and draws a figure.
local mr = require "moonrank"
local here = arg[0]:match "^(.*/)" or "./"
local args, ratings, fold, title = dofile(here .. "data.lua")(50, {
  other = { path = "file", type = "string", help = "a TREC run of the same queries" },
  out = { path = "new folder", default = "results/tour", help = "folder for files" } })

local model = mr.models.mf{ users = ratings.users, items = ratings.items }
local run = mr.fit{
  model = model,
  loss = mr.losses.ap{ bound = "minmax" },
  train = fold.train,
  valid = fold.valid,
  test = fold.test,
  optimizer = mr.optim.adam{ lr = 0.02 },
  epochs = args.epochs,
  metrics = { "ndcg", "rr" },
  progress = false }
mr.data.scored(model, fold.test):to_trec_run(args.out .. "/mf.run", { tag = "mf" })
local other = args.other or args.out .. "/popularity.run"
if not args.other then
  mr.data.scored(mr.models.popularity{ fold = fold }, fold.test):to_trec_run(other, { tag = "popularity" })
end

local compared = mr.compare{ mf = run, other = other, qrels = fold.test, metrics = { "ndcg", "rr" } }
print(("%s\n\n%s\n\n%% %s\n%s"):format(title, compared, title, compared:to_latex()))
compared:plot{ title = "Systems, " .. title }:save(args.out .. "/systems.svg")
