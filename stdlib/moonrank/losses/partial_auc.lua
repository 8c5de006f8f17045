-- Defines losses from the lower-left partial AUC: the area under the ROC curve where the rates of true and of false
-- positives are small. The losses have parameters of their own, which mr.fit trains.
local core = require "moonrank.core"
local declare = require("moonrank.options").declare
local loss = require "moonrank.losses.loss"
local metrics = require "moonrank.metrics.registry"
local operations = require "moonrank.tensor.operations"
local shared = require "moonrank.losses.options"
local tensors = require "moonrank.tensor"

local M = {}

local function number(name, default, least, most, help)
  return { name, "number", default = default, least = least, most = most, help = help }
end

local options_of_both = declare("mr.losses.LlpaucOptions", {
  number("alpha", 0.7, 1e-15, 1, "largest rate of true positives that counts"),
  number("beta", 0.1, 1e-15, 1, "largest rate of false positives that counts"),
  shared.factor("kappa", 5, "steepness of the softplus that stands for max(0, x)"),
  number("a", 1, 0, 1, "first value of the parameter a"),
  number("b", 0, 0, 1, "first value of the parameter b"),
  number("s_plus", 0.5, -1, 4, "first value of the parameter p, or s+"),
  number("s_minus", 0.5, 0, 5, "first value of the parameter m, or s-"),
  number("gamma", 0, -1, 1, "first value of the parameter gamma"),
  { "learn", "boolean", default = true, help = "whether training updates the parameters together with the model's" },
  { "ascent", "boolean", shown = "true for llpauc, false for llpauc_as_coded",
    help = "whether training maximizes over p and gamma, as in the paper" },
  metrics.option("ap", "metric whose bounds are used"),
}, shared.slope)

local coded_options = declare("mr.losses.LlpaucAsCodedOptions", {
  { "theta_a", "number", default = 0.5, help = "first value of the factor of a + gamma" },
  { "theta_b", "number", default = 0.5, help = "first value of the factor of gamma + 1 - b" },
}, options_of_both)

-- Ranges of the parameters a, b, s+, s-, gamma, theta_a and theta_b, and divisors by which parameters are stored. The
-- divisor is 2 where the code of the authors has twice the learning rate, because steps of Adam do not depend on the
-- scale of a parameter.
local least, most = { 0, 0, -1, 0, -1, -math.huge, -math.huge }, { 1, 1, 4, 5, 1, math.huge, math.huge }
local halved, as_they_are = { 1, 1, 2, 2, 2, 1, 1 }, { 1, 1, 1, 1, 1 }

local signs = { 1, 1, -1, 1, -1, 1, 1 }  -- factors of the gradients: -1 for s+ and gamma, over which training maximizes

-- Returns the divisors, ranges and gradient signs of the first n parameters as tensors on the default device.
local function constants(n, scale)
  local function row(numbers) return core.tensor(table.move(numbers, 1, n, 1, {}), "float64", core.device()) end
  return { count = n, scale = row(scale), least = row(least), most = row(most), signs = row(signs) }
end

-- Moves the parameters {a, b, s+, s-, gamma, ...} back into their ranges; the range of gamma begins at max(-a, b - 1).
local function project(parameters, by)
  core.restore(parameters, tensors.no_grad(function()
    local x = (parameters:detach() * by.scale):maximum(by.least):minimum(by.most)
    local gamma = x[5]:maximum((-x[1]):maximum(x[2] - 1))
    local parts = { x:narrow(1, 1, 4), gamma:reshape(1) }
    if by.count > 5 then parts[3] = x:narrow(1, 6, by.count - 5) end
    return operations.cat(parts) / by.scale
  end))
end

-- Makes a loss whose parameters begin at `first` and are stored divided by `scale`. `f` computes the loss.
local function made(name, o, first, scale, f)
  o.metric = metrics.parse(o.metric)
  local by = constants(#first, scale)
  local parameters = core.tensor(first, "float64", core.device()) / by.scale
  if o.learn then parameters = parameters:requires_grad() end
  local values = loss.on_counted(metrics.parse "ap", function(scores, lists)
    if o.learn then project(parameters, by) end
    local p = parameters * by.scale
    if o.ascent then p = p:detach() * (1 - by.signs) + p * by.signs end
    return f(scores, lists, p:to(scores.dtype):to(scores.device))
  end)
  return loss.by_slope({ name = name, metric = "ndcg", of = o.metric, counted = "ap", values = values,
    row_weights = "its parameters stand for scores of rows of equal weights",
    parameters = o.learn and { parameters } }, o)
end

---Makes the loss of the lower-left partial AUC, LLPAUC (Shi et al. 2024, arXiv 2403.00844, with
---w = 0): one value per list. P relevant rows i and n other rows j have $s = sigma(f)$, and
---$r(x) = log(1 + e^(kappa x)) / kappa$. Here p is `s_plus`, and m is `s_minus`. The value is the sum of
---two terms:
---
---   $- alpha p - 1/P sum_(relevant i) r(-(s_i - a)^2 + 2 (1 + gamma) s_i - p) - gamma^2$
---
---   $beta m + 1/n sum_(irrelevant j) r((s_j - b)^2 + 2 (1 + gamma) s_j - m)$
---
---The loss has the parameters a, b, p, m and gamma, which mr.fit trains together with the model's:
---`loss:parameters()[1]` has them, and a model's file does not. Training minimizes over a, b and m,
---and (with `ascent`) maximizes over p and gamma, whose gradient gets the opposite sign. Each
---time the loss is computed, the parameters move back into their ranges: a and b to [0, 1], p to
---[-1, 4], m to [0, 5], gamma to [max(-a, b - 1), 1]. With `learn = false`, they are constants, as
---trees need.
---
---Lists that count, and bounds, are as for mr.losses.sl. The authors' code computes
---mr.losses.llpauc_as_coded.
---@param options? mr.losses.LlpaucOptions
---@return mr.Loss
---Example: `mr.losses.llpauc{alpha = 0.5}:parameters()[1]:totable()   --> {1.0, 0.0, 0.5, 0.5, 0.0}`
function M.llpauc(options)
  local o = options_of_both:read("mr.losses.llpauc", options)
  if o.ascent == nil then o.ascent = true end
  return made("llpauc", o, { o.a, o.b, o.s_plus, o.s_minus, o.gamma }, as_they_are, function(scores, lists, p)
    return core.llpauc_terms(scores, lists, p, o.kappa, 1, 1) + p[4] * o.beta - p[3] * o.alpha - p[5] ^ 2
  end)
end

---Makes LLPAUC as the code of Shi et al. (2024) and of Yang et al. (2025) has it, one value per list.
---It is mr.losses.llpauc, which defines the terms, with 1 / alpha and 1 / beta in other places and
---with penalties in place of the condition on gamma. The value is the sum of three terms:
---
---   $- p - 1/(alpha P) sum_(relevant i) r(-(s_i - a)^2 + 2 (1 + gamma) s_i - p) - gamma^2$
---
---   $m + 1/(beta n) sum_(irrelevant j) r((s_j - b)^2 + 2 (1 + gamma) s_j - m)$
---
---   $theta_a (a + gamma) + theta_b (gamma + 1 - b)$
---
---The factors theta_a and theta_b are parameters, too. Without `ascent`, training minimizes over
---all parameters, as the code of Yang et al. does. That code has twice the learning rate for p, m
---and gamma, so `loss:parameters()[1]` has half of these three numbers: steps of Adam are then
---twice as large.
---@param options? mr.losses.LlpaucAsCodedOptions
---@return mr.Loss
---Example: `#mr.losses.llpauc_as_coded():parameters()[1]   --> 7`
function M.llpauc_as_coded(options)
  local o = coded_options:read("mr.losses.llpauc_as_coded", options)
  if o.ascent == nil then o.ascent = false end
  local first = { o.a, o.b, o.s_plus, o.s_minus, o.gamma, o.theta_a, o.theta_b }
  return made("llpauc_as_coded", o, first, halved, function(scores, lists, p)
    return core.llpauc_terms(scores, lists, p, o.kappa, 1 / o.alpha, 1 / o.beta) + p[4] - p[3] - p[5] ^ 2
      + p[6] * (p[1] + p[5]) + p[7] * (p[5] + 1 - p[2])
  end)
end

return M
