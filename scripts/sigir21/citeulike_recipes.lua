-- Like citeulike.lua, with LambdaRank and other training setups (--recipe): "published" gives the published numbers,
-- "code" is the last commit of the authors' code, and "paper" follows the text of the paper, so that validation chooses
-- the epoch. Differences that are explained, and those that are not, are in docs/results/notes/sigir21.md.
local here = arg[0]:match("^(.*/)") or "./"
local training = dofile(here .. "recipes.lua")

local own = training.options "published"
own.seed = { default = 1, least = 1, help = "seed of models and negatives" }
local args = training.args(own, { nsr = { 1 }, epochs = 2 })
local set = training.protocol.citeulike(args)
local trainings = training.trainings(args, set)
for _, o in ipairs(trainings) do o.seed = args.seed end
return training.compared(args, set, trainings)
