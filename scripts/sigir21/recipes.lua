-- How the models are trained under each recipe. The paper says SGD and 3000 epochs for all, and not how many users a batch has; the code at its last
-- commit has Adam for listwise losses, SGD and 120 epochs for LambdaRank; the published numbers come from the two the other way round, with
-- the batches that land on them.
local M = {}

---@class sigir21.Training
---@field optimizer "sgd"|"adam"
---@field batch integer
---@field batches? table<string, integer>  of losses with batches of their own
---@field epochs integer
---@field rates number[]       learning rates to choose from

---@class sigir21.Recipe
---@field title string
---@field choose_on "valid"|"test"   the part that chooses epochs and learning rates
---@field valid number               share of each user's items of train that becomes the validation part
---@field negatives "apart"|"authors"  whether those of train may be relevant in test, and those of test have been in train (negatives.lua)
---@field listwise sigir21.Training
---@field lambda sigir21.Training

local listwise, lambda = { 1, 0.1, 3, 10, 0.01, 0.001 }, { 0.001, 0.01, 0.1 }

M.paper = {
  title = "as in the paper, with epoch and learning rate chosen on validation", choose_on = "valid", valid = 0.1, negatives = "apart",
  listwise = { optimizer = "sgd", batch = 2048, epochs = 3000, rates = listwise },
  lambda = { optimizer = "sgd", batch = 16, epochs = 3000, rates = lambda },
}
M.code = {
  title = "as the code's last commit, with epoch and learning rate chosen on test", choose_on = "test", valid = 0, negatives = "authors",
  listwise = { optimizer = "adam", batch = 256, epochs = 3000, rates = listwise },
  lambda = { optimizer = "sgd", batch = 16, epochs = 120, rates = lambda },
}
M.published = {
  title = "as published, with epoch and learning rate chosen on test", choose_on = "test", valid = 0, negatives = "authors",
  listwise = { optimizer = "sgd", batch = 2048, batches = { ap = 256, nrbp = 256 }, epochs = 3000, rates = listwise },
  lambda = { optimizer = "adam", batch = 16, epochs = 120, rates = lambda },
}
M.names = { "paper", "code", "published" }

return M
