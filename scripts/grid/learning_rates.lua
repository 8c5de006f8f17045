-- Which learning rate suits which loss in each setting (data set and model) of the grid experiment (grid.lua)?

-- Every loss is trained on the first fold without a bound and under the bounds minmax and distribution_logit, if they
-- apply. The rate with the best validation metric, as the mean over these three, is chosen. Under the bounds
-- distribution and distribution_log a loss has rates of its own. Rates are tried in half decades (0.001, 0.003, 0.01);
-- if the best rate is at the edge, the next rate is tried, too. Test parts are not used.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local training, search = dofile(here .. "training.lua"), dofile(here .. "search.lua")
local protocol = training.protocol

local args = training.args{}

-- Returns a function for search.run: it trains losses at a learning rate and returns the validation metric of each, as
-- the mean over bounds (protocol.means). `names` are losses, some followed by a bound ("ndcg distribution").
local function means_at(set)
  return function(rate, names, round)
    local columns, trials = training.at_rate(args, set, rate, names, round):columns(), {}
    local loss, bound, valid = columns:column("loss"), columns:column("bound"), columns:column("valid")
    for row = 1, columns.count do trials[row] = { loss = loss[row], bound = bound[row], valid = valid[row] } end
    return protocol.means(trials)
  end
end

-- The chosen learning rates of a setting as the Lua code of rates.lua, in lines of at most 100 columns.
local function written(set, names, chosen)
  local lines = { ("M.%s = {"):format(set), " " }
  for _, name in ipairs(names) do
    local part = chosen[name] and (name:find " " and ' ["%s"] = %g,' or " %s = %g,"):format(name, chosen[name]) or ""
    if #lines[#lines] + #part > 100 then lines[#lines + 1] = " " end
    lines[#lines] = lines[#lines] .. part
  end
  lines[#lines + 1] = "}"
  return table.concat(lines, "\n")
end

local rows, texts, ends = {}, {}, {}
local names = protocol.rate_names(training.losses(args))
for i, set_name in ipairs(args.sets) do
  local set = training.set(args, set_name)
  local means, chosen = search.run(set, names, means_at(set)), {}
  for _, name in ipairs(names) do
    local loss, bounds = protocol.tuned(name)
    local found, tried = means[name] or {}, {}
    chosen[name] = search.best(found)
    for r, rate in ipairs(search.rising(found)) do tried[r] = ("%g: %.4f"):format(rate, found[rate]) end
    rows[#rows + 1] = { set.title, loss, protocol.metric_of(loss), chosen[name] or "-", table.concat(tried, ", "),
      table.concat(bounds, ", ") }
    local next_one, ended = search.beyond(set, found)
    if not args.made_up and (next_one or ended) then ends[#ends + 1] = ("%s in %s"):format(name, set.title) end
  end
  texts[i] = written(set_name, names, chosen)
end
print((args.made_up and "Made-up data, not for rates.lua:\n" or "For rates.lua:\n")
  .. table.concat(texts, "\n") .. "\n")
return mr.experiment.finish(args, nil, ([[
Learning rates of Adam, and of trees their share of each round, by the loss's metric on validation: the first fold, the
mean over the bounds of a row.%s]]):format(args.made_up and ""
    or #ends == 0 and " No chosen rate is at the edge of those that were tried."
    or " At the edge of those that were tried, where runs beyond it are not tried or fail: "
    .. table.concat(ends, "; ") .. "."),
  mr.table{ columns = { "setting", "loss", "metric", "chosen", "mean on validation by rate", "bounds" }, rows = rows })
