-- The number of epochs of the SIGIR'21 recipes. It has a file of its own because it takes seconds.
local test = require "moonrank.test"
local protocols = dofile "tests/support/protocols.lua"
local training = dofile "scripts/sigir21/recipes.lua"

test.it("protocol.train runs 3000 epochs (4.2), and 120 of LambdaRank in the code", function()
  for _, recipe in ipairs(training.recipe_names) do
    for _, kind in ipairs{ "listwise", "lambda" } do
      local fold, model = protocols.fold{}
      local run = training.protocol.train(training.recipes[recipe][kind], { loss = "ndcg", rate = 0.1, seed = 1,
        fold = fold, model = model })
      test.equal({ recipe, kind, #run.history }, { recipe, kind,
        (recipe == "paper" or kind == "listwise") and 3000 or 120 })
    end
  end
end)
