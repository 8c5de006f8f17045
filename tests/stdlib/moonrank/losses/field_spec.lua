-- Tests losses against the reference values of tests/support/field.lua. laplace_spec.lua and soft_top_spec.lua have
-- formulas in Lua instead.
local mr = require "moonrank"
local about = dofile("tests/support/field.lua").it
local test = require "moonrank.test"
local describe, near, check = test.describe, test.near, test.check

-- Returns a gradient in which each entry is replaced by the mean over all rows with the same score.
local function mean_of_ties(gradient, scores)
  local means = {}
  for i, score in ipairs(scores) do
    local sum, count = 0, 0
    for j, other in ipairs(scores) do
      if other == score then sum, count = sum + gradient[j], count + 1 end
    end
    means[i] = sum / count
  end
  return means
end

-- Compares values, and gradients relative to the largest entry. SoftSort's reference was made with a sort that is
-- stable only for up to 16 rows, so in longer lists the gradients of tied rows are in another order.
local function compare(loss, case, expected, dtype, tolerance, where)
  local leaf = mr.tensor(case.scores, { dtype = dtype }):requires_grad()
  local value = loss(leaf, mr.lists{ case.relevance })
  if value.tracked then value:sum():backward() end
  local size = math.max(1, math.abs(expected.value))
  near(value:item() / size, expected.value / size, tolerance, where)
  local found, wanted, largest = (leaf.grad or leaf:detach() * 0):totable(), expected.gradient, 1
  if loss.name == "softsort_ndcg" and #wanted > 16 then
    found, wanted = mean_of_ties(found, case.scores), mean_of_ties(wanted, case.scores)
  end
  for _, x in ipairs(wanted) do largest = math.max(largest, math.abs(x)) end
  near(mr.tensor(found, { dtype = dtype }) / largest, mr.tensor(wanted, { dtype = dtype }) / largest, tolerance,
    "gradient of " .. where)
end

local tolerances = { float64 = 1e-10, float32 = 2e-6 }

describe("values of field.json", function()
  about("smooth ranks and metrics by the Laplace kernel", "laplace", function(golden)
    for i, case in ipairs(golden.lists) do
      local options = { kernel = "laplace", steepness = case.gain }
      for dtype, tolerance in pairs(tolerances) do
        local scores, lists = mr.tensor(case.scores, { dtype = dtype }), mr.lists{ case.relevance }
        for _, name in ipairs{ "smooth_rank", "smooth_rank_among_relevant" } do
          local found = mr.smooth[name:gsub("smooth_", "", 1)](scores, lists, options):totable()
          for j, x in ipairs(found) do near(x / case[name][j], 1, tolerance, name) end
        end
        for _, name in ipairs{ "ndcg", "ap", "nrbp", "rr" } do
          local loss = mr.losses[name]{ kernel = "laplace", steepness = case.gain }
          compare(loss, case, case.losses[name], dtype, tolerance, ("%s of list %d, %s"):format(name, i, dtype))
        end
      end
    end
  end)

  about("soft choices of the top rows, projected ranks, and SoftSort", "soft", function(golden)
    local compared = 0
    for i, case in ipairs(golden.lists) do
      for name, expected in pairs(case.losses) do
        local of, k, tau = name:match("^soft_(%a+)@(%d+) tau=([%d.]+)$")
        if not of then k, tau = name:match("^soft_top_k_cross_entropy@(%d+) tau=([%d.]+)$") end
        local eps = name:match("^projected_rank_ndcg eps=([%d.]+)$")
        local loss
        if k then
          loss = mr.losses["soft_" .. (of or "top_k")]{ k = math.tointeger(k), tau = tonumber(tau) }
        elseif eps then
          loss = mr.losses.projected_ndcg{ eps = tonumber(eps) }
        else
          local power, temperature = name:match("^softsort_ndcg power=(%d) tau=([%d.]+)$")
          loss = mr.losses.softsort_ndcg{ power = math.tointeger(power), tau = tonumber(temperature) }
        end
        for dtype, tolerance in pairs(tolerances) do
          compare(loss, case, expected, dtype, tolerance, ("%s of list %d, %s"):format(name, i, dtype))
          compared = compared + 1
        end
      end
    end
    check(compared > 0, "no reference value was compared")
  end)
end)
