-- PRank (Crammer & Singer 2001): does a perceptron with thresholds between grades, which sees one row at a time,
-- rank well?
-- A row of grade y should score above thresholds 1 to y and below all higher ones. If the score is on the wrong
-- side of a threshold, this threshold and the weights move.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local common = dofile(here .. "common.lua")

local args = common.options{ passes = { default = 5, least = 1, help = "passes over all rows" } }

return common.compare(args, function(train, tested)
  local x, grades = train.features:totable(), train.lists.relevance:totable()
  local levels = math.tointeger(train.lists.relevance:max():item())
  local w, mean, thresholds = {}, {}, {}
  for k = 1, #x[1] do w[k], mean[k] = 0.0, 0.0 end
  for r = 1, levels do thresholds[r] = 0.0 end

  local function learn(row, grade)
    local score, tau = 0, 0
    for k, each in ipairs(row) do score = score + w[k] * each end
    for r = 1, levels do
      local side = grade >= r and 1 or -1
      if side * (score - thresholds[r]) <= 0 then
        tau = tau + side
        thresholds[r] = thresholds[r] - side
      end
    end
    if tau ~= 0 then
      for k, each in ipairs(row) do w[k] = w[k] + tau * each end
    end
    for k, each in ipairs(w) do mean[k] = mean[k] + each end
  end

  for pass = 1, args.passes do
    local _, order = mr.uniform({ #x }, { seed = args.seed, stream = ("pass %d"):format(pass) }):sort(1)
    for _, row in ipairs(order:totable()) do learn(x[row], grades[row]) end
  end

  local function score(weights)
    local column = mr.tensor(weights, { dtype = "float64" }):reshape(#w, 1)
    return tested.features:double():matmul(column):reshape(tested.lists.rows)
  end
  return { { "PRank", score(w) }, { "PRank, mean of its weights (Bayes point)", score(mean) } }
end)
