-- Tests losses against reference values and gradients of tests/golden/make_losses.py. That script computes each loss
-- from its definition, in float64, with automatic differentiation, and compares it with allRank's code if allRank has
-- the loss.
local mr = require "moonrank"
local json = dofile("tests/support/json.lua")
local test = require "moonrank.test"
local describe, it, near, check = test.describe, test.it, test.near, test.check

local losses = mr.losses
local made = {
  mse = losses.mse(), bce = losses.bce(), ordinal = losses.ordinal(),
  ranknet = losses.ranknet(), listnet = losses.listnet(),
  softmax_cross_entropy = losses.softmax_cross_entropy(), listmle = losses.listmle(), p_listmle = losses.p_listmle(),
  approx_ndcg_10 = losses.approx_ndcg(), climf = losses.climf(), tfmap = losses.tfmap(),
  softrank_ndcg_1 = losses.soft_rank(), neural_ndcg_1 = losses.neural_ndcg(),
  neural_ndcg_01 = losses.neural_ndcg{ tau = 0.1 }, neural_ndcg_1_unscaled = losses.neural_ndcg{ iterations = 0 },
  neural_ndcg_1_transposed = losses.neural_ndcg(),
  hinge = losses.hinge(), ranknet_all_pairs = losses.ranknet_all_pairs(),
  ndcg_loss_1 = losses.ndcg_loss_1(), ndcg_loss_2 = losses.ndcg_loss_2(), ndcg_loss_2pp_10 = losses.ndcg_loss_2pp(),
}
for _, metric in ipairs{ "ndcg", "ap", "rr", "precision@5", "recall@5" } do
  made["lambdarank " .. metric] = losses.lambdarank{ metric = metric }
end
made["lambdarank err (top grade 4)"] = losses.lambdarank{ metric = mr.metrics.err{ top = 4 } }

local golden = json.read("tests/golden/losses.json")

local function value_and_gradient(loss, case, dtype)
  local scores = mr.tensor(case.scores, { dtype = dtype }):requires_grad()
  local value = loss(scores, mr.lists{ case.relevance })
  if value.tracked then value:sum():backward() end
  return value:item(), scores.grad or scores:detach() * 0
end

describe("loss values and gradients equal the reference values for", function()
  local names = {}
  for name in pairs(made) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    it(name, function()
      local compared = 0
      for i, case in ipairs(golden.lists) do
        local expected = case.losses[name]
        if expected then
          for dtype, tolerance in pairs{ float64 = 1e-9, float32 = 3e-5 } do
            local value, gradient = value_and_gradient(made[name], case, dtype)
            local largest = math.max(1, math.abs(expected.value))
            if dtype == "float64" or largest < 1e6 then
              near(value / largest, expected.value / largest, tolerance, ("list %d, %s"):format(i, dtype))
              local slopes = mr.tensor(expected.gradient, { dtype = dtype })
              near(gradient / largest, slopes / largest, tolerance, ("gradient of list %d, %s"):format(i, dtype))
            end
          end
          compared = compared + 1
        end
      end
      check(compared >= 18, name .. " has few reference values")
    end)
  end
end)
