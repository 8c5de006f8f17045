-- Tests of the experiment: `moonrank test experiment_spec.lua`.
local mr = require "moonrank"
local experiment = require "experiment"
local test = require "moonrank.test"
local describe, it = test.describe, test.it

-- Returns a text such as "user 3, item 8" for each relevant row of a dataset.
local function relevant_pairs(set)
  local pairs, users = {}, set.lists:spread(set.users:double()):totable()
  local items, grades = set.items:totable(), set.lists.relevance:totable()
  for row, grade in ipairs(grades) do
    if grade >= 1 then pairs[#pairs + 1] = ("user %d, item %d"):format(users[row], items[row]) end
  end
  return pairs
end

local function settings(epochs) return { fold = 1, bound = "minmax", lr = 0.03, epochs = epochs, seed = 1 } end

describe("the experiment", function()
  it("tests no rating on which it trains or validates", function()
    for _, fold in ipairs(experiment.folds) do
      local part_of = {}
      for _, part in ipairs{ "train", "valid", "test" } do
        for _, pair in ipairs(relevant_pairs(fold[part])) do
          test.check(not part_of[pair], ("%s is in %s and in %s"):format(pair, part_of[pair], part))
          part_of[pair] = part
        end
      end
    end
  end)

  it("learns to rank better than at random", function()
    local run, lists = experiment.train(settings(20)), experiment.folds[1].test.lists
    local random = mr.evaluate(mr.zeros{ lists.rows }, lists, { experiment.metric })
    test.check(run.test.mean[experiment.metric] > random.mean[experiment.metric] + 0.01)
  end)

  it("gives the same numbers if it runs again", function()
    local one, again = experiment.train(settings(2)), experiment.train(settings(2))
    test.equal(one.test.mean[experiment.metric], again.test.mean[experiment.metric])
  end)
end)
