-- Losses over pairs of a relevant row and a randomly drawn other row of its list, summed over the list's relevant
-- rows. The drawn rows depend only on the seed, the training step and the relevant row's position in the batch.
-- They do not change with threads, processes, earlier calls or resumed training.
local core = require "moonrank.core"
local declare = require("moonrank.options").declare
local loss = require "moonrank.losses.loss"
local metrics = require "moonrank.metrics.registry"
local random = require "moonrank.tensor.random"
local regularizers = require "moonrank.losses.regularizers"
local shared = require "moonrank.losses.options"

local M = {}

local sampled_options = declare("mr.losses.SampledOptions", {
  { "draws", "integer", default = 1, least = 1,
    help = "pairs drawn for each relevant row; the loss takes their mean" },
  { "regularize", "mr.losses.RegularizeOptions",
    accept = function(value) return type(value) == "table" and next(value) ~= nil end,
    expected = "numbers by name, such as {users = 0.01, items = 0.001}",
    help = "regularizers that mr.fit adds; the model needs parameters `users` and `items`, as mr.models.mf has" },
  metrics.option(nil, "metric whose bounds are used", "the exact nRBP loss, the number of wrongly ordered pairs"),
}, shared.relevant, shared.slope)

-- Reads the options of a loss over drawn pairs. The default metric gets the option `relevant`, too, because rows below
-- this grade may be drawn as the other row of a pair.
local function checked(where, declaration, options)
  local o = declaration:read(where, options)
  if o.regularize then o.regularize = regularizers.factors:read(where .. ": regularize", o.regularize) end
  o.metric = metrics.parse(o.metric or "nrbp_loss",
    o.metric == nil and o.relevant ~= 1 and { relevant = o.relevant } or nil)
  return o
end

-- Makes a loss from two functions of the core, whose arguments are: scores, lists, `relevant`, `draws`, the values in
-- `rest`, seed, stream, and the rows of earlier processes. A list counts if it has relevant and other rows.
local function made(name, o, values, derivatives, rest)
  local counted = metrics.parse("nrbp_loss", o.relevant ~= 1 and { relevant = o.relevant } or nil)
  local function drawn(f)
    return function(scores, lists)
      local given = table.move(rest, 1, #rest, 3, { o.relevant, o.draws })
      local seed, stream = random.next(name)
      table.move({ seed, stream, random.rows_before() }, 1, 3, #given + 1, given)
      return f(scores, lists, table.unpack(given))
    end
  end
  return loss.by_slope({
    name = name,
    metric = "auc",
    of = o.metric,
    counted = counted,
    repeats = false,
    row_weights = true,
    values = drawn(values),
    derivatives = drawn(derivatives),
  }, o)
end

---Makes the BPR loss (Rendle et al. 2009, section 4.1, criterion BPR-Opt, negated): a sum over
---relevant rows i, for scores s.
---
---   $- sum_(relevant i) log(sigma(s_i - s_j))$
---
---Row j is drawn uniformly from the rows of the list that are not relevant. The expected loss,
---times the number of these rows, is RankNet over all pairs of a relevant row and a row that is not
---relevant.
---
---A loss does not see a model's factors. With `regularize`, mr.fit therefore adds BPR's two
---regularizers for each list of a batch and for each of its rows, whether drawn or not. The
---optimizer's `weight_decay` instead applies to all factors in each step.
---@param options? mr.losses.SampledOptions
---@return mr.Loss
---Example: `mr.losses.bpr()(mr.tensor{0, 0, 0}, mr.lists{{1, 0, 1}}):item() / math.log(2)   --> 2.0`
function M.bpr(options)
  local o = checked("mr.losses.bpr", sampled_options, options)
  return made("bpr", o, core.bpr_loss, core.bpr_derivatives, {})
end

local warp_options = declare("mr.losses.WarpOptions", {
  shared.factor("margin", 1, "smallest difference s_i - s_j of a relevant and another row's scores that costs nothing"),
  { "trials", "integer", least = 1, most = 1000000, shown = "the list's number of rows that are not relevant",
    help = "largest number of draws for one relevant row" },
}, sampled_options)

---Makes the WARP loss (Weston, Bengio & Usunier 2011). For each relevant row i, rows j that are not
---relevant are drawn uniformly until one has s_j > s_i - margin. If this happens at draw k, row i
---costs L(n / k, rounded down) (margin - s_i + s_j). Here n is the number of rows that are not
---relevant, and L(r) = 1 + 1/2 + ... + 1/r. If no draw succeeds, row i costs 0. The loss is the sum
---over relevant rows. The factor L estimates the rank of row i and has no gradient.
---
---The paper has one right label out of Y, and estimates the rank by (Y - 1) / k with at most Y - 1
---draws, which is this loss with n = Y - 1. With several relevant rows, each is compared only with
---rows that are not relevant. A pair at s_j = s_i - margin costs 0 in both forms. The loss has no
---limits on the norms of embeddings, which the paper has. (It was written from the definition as
---other papers quote it, not from the paper itself. LightFM, for example, uses log(n / k) instead
---of L.)
---@param options? mr.losses.WarpOptions
---@return mr.Loss
---Example: `mr.losses.warp()(mr.tensor{0, 0, 0, -3}, mr.lists{{1, 0, 0, 1}}):item() >= 2.5   --> true`
function M.warp(options)
  local o = checked("mr.losses.warp", warp_options, options)
  return made("warp", o, core.warp_loss, core.warp_derivatives, { o.margin, o.trials or 0 })
end

local lambdafm_options = declare("mr.losses.LambdaFmOptions", {
  { "candidates", "integer", default = 10, least = 1, most = 128,
    help = "rows drawn for each relevant row, of which one is chosen" },
  { "rho", "number", default = 0.3, above = 0, most = 1e6,
    help = "spread of the choice among candidates: small values choose the highest score, 1e6 chooses uniformly" },
}, sampled_options)

---Makes the LambdaFM loss (Yuan et al. 2016): BPR with dynamic sampling, which chooses row j by its
---score. For each relevant row, `candidates` rows that are not relevant are drawn uniformly with
---replacement. The candidate at rank r by score is then chosen with probability proportional to
---exp(-r / (candidates rho)). The loss is the sum over relevant rows of - log sigma(s_i - s_j). For
---regularizers see mr.losses.bpr.
---
---This is the paper's dynamic sampler (LFM-D), as in LibRec's DLambdaFMRecommender. The paper also
---has a static sampler by popularity (LFM-S) and weights by an estimated rank (LFM-W), which this
---loss does not use; mr.losses.warp has such weights. The first author's later code
---(CIKM2016-LambdaFM, LambdaFM.py) chooses the highest of 5 candidates, which is candidates = 5
---with a small rho. (The loss was written without access to the paper.)
---@param options? mr.losses.LambdaFmOptions
---@return mr.Loss
---Example: `mr.losses.lambdafm()(mr.tensor{0, 0, 0}, mr.lists{{1, 0, 1}}):item() / math.log(2)   --> 2.0`
function M.lambdafm(options)
  local o = checked("mr.losses.lambdafm", lambdafm_options, options)
  return made("lambdafm", o, core.lambdafm_loss, core.lambdafm_derivatives, { o.candidates, o.rho })
end

return M
