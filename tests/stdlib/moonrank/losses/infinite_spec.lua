-- Tests every loss at infinite scores: value and gradient must be the limits, or an error must name the scores. NaN is
-- wrong.
local mr = require "moonrank"
local test = require "moonrank.test"
local describe, it, check, near, raises = test.describe, test.it, test.check, test.near, test.raises

local inf, nan, f64 = math.huge, 0 / 0, { dtype = "float64" }
local finite = { 0.4, 0.1, 0.2, 0.3, -0.2, 0.5, 0.1, -0.4 }
local lists = mr.lists{ { 1, 0, 0 }, { 2, 1, 0, 0, 0 } }
local weighted = lists:weighted{ weights = { 1, 2, 1, 1, 0, 1, 2, 1 } }

-- Infinite scores, by row of the batch. All are in the second list, whose rows 4 and 5 are relevant.
local cases = {
  ["-inf, not relevant"] = { [6] = -inf }, ["-inf, relevant"] = { [4] = -inf }, ["-inf, weight 0"] = { [5] = -inf },
  ["+inf, not relevant"] = { [6] = inf }, ["+inf, relevant"] = { [4] = inf },
  ["all not relevant -inf"] = { [6] = -inf, [7] = -inf, [8] = -inf },
  ["both -inf"] = { [4] = -inf, [6] = -inf }, ["both +inf"] = { [4] = inf, [6] = inf },
  ["opposite"] = { [4] = -inf, [6] = inf }, ["all relevant +inf"] = { [4] = inf, [5] = inf },
}

local options = { soft_precision = { k = 2 }, soft_recall = { k = 2 }, soft_hit = { k = 2 }, soft_top_k = { k = 2 },
  policy_gradient = { samples = 10 }, pl_rank = { samples = 10 } }

local function made(name)
  local given = {}
  for key, value in pairs(options[name] or {}) do given[key] = value end
  return mr.losses[name](given)
end

-- Returns the values and the gradient of a loss, computed with the same random numbers each time.
local function computed(loss, scores, of)
  mr.seed(1)
  local x = mr.tensor(scores, f64):requires_grad()
  local value = loss(x, of)
  if value.tracked then value:sum():backward() end
  return value:totable(), x.grad and x.grad:totable() or {}
end

local function with(rows)
  local scores = table.move(finite, 1, #finite, 1, {})
  for row, score in pairs(rows) do scores[row] = score end
  return scores
end

local function has_nan(...)
  for _, numbers in ipairs{ ... } do
    for _, x in ipairs(numbers) do if x ~= x then return true end end
  end
  return false
end

-- Calls f(loss, lists, name) for each loss, also with weights if the loss accepts them.
local function each_loss(f)
  for _, name in ipairs(mr.losses.names()) do
    local loss = made(name)
    f(loss, lists, name)
    if pcall(loss, mr.tensor(finite, f64), weighted) then f(loss, weighted, name .. " with weights") end
  end
end

describe("infinite scores", function()
  it("give no NaN, in the value or the gradient, unless an error says so", function()
    each_loss(function(loss, of, name)
      for case, rows in pairs(cases) do
        local ok, value, gradient = pcall(computed, loss, with(rows), of)
        if ok then
          check(not has_nan(value, gradient), ("%s, %s"):format(name, case))
        else
          local message = tostring(value)
          check(message:find "scores" and message:find "infinite", ("%s, %s: %s"):format(name, case, message))
        end
      end
    end)
  end)

  it("that are NaN are an error", function()
    -- `others` has a list in front that does not count. The error names the entry in all lists nevertheless.
    local others = mr.lists{ { 1, 1, 1 }, { 2, 1, 0, 0, 0 } }
    others = { [lists] = others, [weighted] = others:weighted{ weights = weighted.weights } }
    each_loss(function(loss, of, name)
      for _, row in ipairs{ 4, 5, 6 } do
        for _, with_place in ipairs{ of, others[of] } do
          local ok, message = pcall(computed, loss, with{ [row] = nan }, with_place)
          message = tostring(message)
          check(not ok and message:find "scores" and message:find("NaN at entry " .. row), name .. ": " .. message)
        end
      end
    end)
  end)

  it("of -inf leave a row out of a softmax", function()
    local shorter = mr.lists{ { 1, 0, 0 }, { 2, 1, 0, 0 } }
    local rest = with{}
    table.remove(rest, 6)
    local names = { "softmax_cross_entropy", "full_softmax", "sampled_softmax", "sl", "bsl_per_positive", "psl" }
    for _, name in ipairs(names) do
      local value, gradient = computed(made(name), with{ [6] = -inf }, lists)
      local wanted, slopes = computed(made(name), rest, shorter)
      table.insert(slopes, 6, 0.0)
      near(value, wanted, 1e-12, name)
      near(gradient, slopes, 1e-12, name)
    end
  end)

  it("have the limits of large scores", function()
    for _, name in ipairs{ "sl", "full_softmax", "sampled_softmax", "bsl", "bsl_per_positive", "gbce", "sl_at_k" } do
      for _, case in ipairs{ { 6, -1 }, { 4, -1 }, { 6, 1 }, { 4, 1 } } do
        local row, sign = table.unpack(case)
        local ok, value, gradient = pcall(computed, made(name), with{ [row] = sign * inf }, lists)
        local far, slopes = computed(made(name), with{ [row] = sign * 1e6 }, lists)
        if ok then
          near(gradient, slopes, 1e-9, name)
          if value[2] - value[2] == 0 then near(value, far, 1e-9, name)
          else check(far[2] * value[2] > 0 and math.abs(far[2]) > 1e4, name) end
        end
      end
    end
  end)

  it("of which a loss has no value are an error", function()
    raises(function() computed(mr.losses.sl(), with(cases["both +inf"]), lists) end, "scores", "infinite")
    raises(function() computed(mr.losses.full_softmax(), with(cases["all relevant +inf"]), lists) end, "infinite")
  end)
end)
