-- Estimates the k-th largest score of each user during a training on interactions (SL@K of Yang et al. 2025). The
-- estimates of a training change from step to step like the parameters of a model, so checkpoints have them.
local core = require "moonrank.core"
local check = require "moonrank.check"
local prepared = require "moonrank.losses.prepared"
local tensors = require "moonrank.tensor"

local M = {}

-- Returns, for each interaction of a batch, the k-th largest score of its user: among the scores in the interaction's
-- row of `sampled`, and those of the user's items in train. The latter leave out some items of the most active users.
-- The result is -inf for a user with fewer than k scores.
local function kth_largest(state, step, sampled, o)
  local model, batch, count = step.model, step.batch, step.batch.size
  if not state.items then
    state.items, state.is_there = batch.interactions:items_of_users(o.share or 0.9, o.k - sampled:size(2),
      sampled.device)
  end
  local width = state.items:size(2)
  if not state.lists[count] then
    local sizes = {}
    for l = 1, count do sizes[l] = width end
    state.lists[count] = core.lists(sizes, core.full({ count * width }, 0, "float32", "cpu"), {}, {})
  end
  local own = model{ lists = state.lists[count], size = count, users = batch.users,
    items = state.items:rows(batch.users):reshape(count * width) }:detach():reshape(count, width)
  own = state.is_there:rows(batch.users):to(own.dtype):where(own, -math.huge)
  local all = tensors.cat({ sampled, own }, 2)
  if o.k > all:size(2) then return all:narrow(2, 1, 1):reshape(count):detach() * 0 - math.huge end
  return all:topk(o.k, 2):narrow(2, o.k, 1):reshape(count)
end

-- Estimates the k-th largest scores of the users of a batch anew. The last interaction of a user in the batch counts.
local function renew(state, step, scores, o)
  tensors.no_grad(function()
    local batch, before = step.batch, state.value
    local negatives = batch.lists.rows // batch.size - 1
    local sampled = scores:detach():reshape(batch.size, negatives + 1):narrow(2, 2, negatives)
    local found, all = kth_largest(state, step, sampled, o):totable(), before:totable()
    for l, user in ipairs(batch.users:totable()) do all[user] = found[l] end
    state.value = core.tensor(all, before.dtype, scores.device)
  end)
end

---Changes the value of the loss `of_lists` in trainings on interactions, and returns this loss. The new value is that
---of `sl`, under the bound of `of_lists`, times sigma((f - beta) / tau_beta). Here f is the score of the interaction's
---relevant row, and beta is the estimate for its user.
---@param of_lists mr.Loss  SL@K of lists
---@param sl mr.Loss        SL without a bound
---@param o table           options k, tau_beta, every and share of mr.losses.sl_at_k
function M.of_users(of_lists, sl, o)
  local states = setmetatable({}, { __mode = "k" })  -- states of the loss, by the interactions of a training
  local keep, take = prepared.new()
  local keep_weight, take_weight = prepared.new()
  local values, bounded = of_lists._smooth, of_lists._apply

  function of_lists._states(interactions)
    states[interactions] = states[interactions]
      or { value = core.full({ interactions.users }, 0, "float32", core.device()), lists = {} }
    return { states[interactions] }
  end

  function of_lists._prepare(model, batch)
    if not check.field(batch, "interactions") then return end
    -- uses the estimates from before the step, because a loss that occurs twice in a sum changes them when it is
    -- computed
    keep(batch.lists, { model = model, batch = batch, value = of_lists._states(batch.interactions)[1].value })
  end

  -- The weight is not applied here: it multiplies the bounded loss, in `_apply`.
  function of_lists._smooth(scores, lists)
    local step = take(lists)
    if not step then return values(scores, lists) end
    local batch, state = step.batch, of_lists._states(step.batch.interactions)[1]
    local f = core.distinct_rows(scores, (core.relevant_rows(lists, scores)))
    keep_weight(lists, ((f - step.value:rows(batch.users):to(f.dtype)) / o.tau_beta):sigmoid())
    if batch.epoch % o.every == 0 then renew(state, step, scores, o) end
    return sl._smooth(scores, lists)
  end

  function of_lists._apply(value, metric, lists, scores)
    local result, weight = bounded(value, metric, lists, scores), take_weight(lists)
    return weight and weight * result or result
  end

  return of_lists
end

return M
