-- Training runs of Li, Urbano & Hanjalic (2021), kept in one store, and the tables that set them beside published
-- numbers. A training has a run for each split of the data. Every decision is in protocol.lua.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local experiment, protocol = mr.experiment, dofile(here .. "protocol.lua")

local M = { protocol = protocol, recipes = protocol.recipes }

---Makes or reads the runs of a training. `o` has recipe, kind, loss, nsr, rate, and optionally factors and seed. The
---result is nil if no run has a result: none is there (--kept), or training diverged.
function M.study(args, set, o)
  -- `run` captures single values, because the store takes another captured value for a change of the training
  local how, nsr, loss, rate = M.recipes[o.recipe][o.kind], o.nsr, o.loss, o.rate
  local factors, seed = o.factors or protocol.factors, o.seed or 1
  local epochs = args.epochs > 0 and args.epochs or how.epochs
  local name = ("%s, NSR %d, %s %s, %d factors, rate %g, %s"):format(set.title, nsr, o.kind, loss, factors, rate,
    o.recipe)
  local results = (args.kept and experiment.there or experiment.study)(args, {
    name = seed > 1 and ("%s, seed %d"):format(name, seed) or name, settings = { epochs = epochs },
    accepts = experiment.diverged,  -- at some large learning rates training diverges, which is a result
    space = { split = mr.choice(set.splits) },
    run = function(trial)
      local own_seed = 1000 * (seed - 1) + trial.split + 1
      local fold = how.fold(set, { split = trial.split, nsr = nsr, seed = own_seed })
      local run = protocol.train(how, { loss = loss, rate = rate, fold = fold, seed = own_seed, epochs = epochs,
        model = protocol.model(set, factors, own_seed) })
      return protocol.outcome(run, fold, protocol.own_metrics(loss))
    end })
  return results and #experiment.runs(results) > 0 and results or nil
end

---The name of a loss or metric in tables: "nDCG" for "ndcg", "RBP(0.8)" for "rbp(0.8)".
function M.title(name) return (name:upper():gsub("^N", "n")) end

-- Returns the models of a training, one for each split and metric that chooses epochs. Runs that diverged have none.
local function models_of(args, set, o)
  local results, models = M.study(args, set, o), {}
  for _, run in ipairs(results and experiment.runs(results) or {}) do
    for _, by in ipairs(protocol.own_metrics(o.loss)) do
      local function value(name) return experiment.folds(results, { run }, name)[1] end
      local model = { kind = o.kind, loss = o.loss, nsr = o.nsr, rate = o.rate, fold = run.fold, ["chosen by"] = by,
        epoch = math.tointeger(value("epoch by " .. by)) }
      for _, metric in ipairs(protocol.metrics) do
        local name = protocol.score(metric, by)
        local ends = experiment.over_lists(experiment.by_list({ results }, { split = run.fold }, name)) or {}
        model[metric] = { value(name), ends[1], ends[2] }
      end
      models[#models + 1] = model.ndcg[1] and model or nil
    end
  end
  return models
end

local kinds = { listwise = "listwise", lambda = "LambdaRank" }

---Ends a script with two tables: the models of its trainings beside published ones, and a summary of them by loss.
function M.compared(args, set, trainings)
  local models = {}
  for _, o in ipairs(trainings) do
    for _, model in ipairs(models_of(args, set, o)) do models[#models + 1] = model end
  end
  if #models == 0 then experiment.lack(args.store .. " has no runs of this kind; without --kept they are made") end
  local found = experiment.beside(models, {
    published = args.made_up and {} or mr.data.csv(here .. "published.csv"):records(),
    by = { "kind", "loss", "nsr", "rate", "fold", "chosen by" }, fields = protocol.metrics,
    shown = { "ndcg", "ap", "rr", "rbp(0.95)" }, title = M.title, difference = protocol.close, units = "models",
    group = { "loss", function(of) return kinds[of.kind] .. " " .. M.title(of.loss) end },
    runs = function(of) return #of // #protocol.own_metrics(of[1].loss) end })
  local all = experiment.table{ caption = "All models", records = models, by = "bootstrap over users", runs = 1,
    columns = { { "NSR", "nsr" }, { "kind" }, { "loss", function(of) return M.title(of.loss) end }, { "rate" },
      { "fold" }, { "chosen by", function(of) return M.title(of["chosen by"]) end }, { "epoch" },
      table.unpack(found.columns) }, legend = found.legend .. [[
NSR: negative sampling ratio; chosen by: metric that chose the epoch; nDCG, AP, RR, RBP(0.95): on test.]] }
  local agreement = experiment.agreement(models, { fields = { "ndcg" }, difference = protocol.close })
  local text = ("The %d models are trained %s%s."):format(#models, M.recipes[trainings[1].recipe].title,
    args.epochs > 0 and (", but for %d epochs"):format(args.epochs) or "")
  local section = experiment.finish(args, nil, table.concat({ text, experiment.so_far(args) }, " "),
    table.unpack(found.table and { found.table, all } or { all }))
  section.agreement, section.finding = agreement, agreement and "nDCG on test: " .. agreement.text
  return section
end

return M
