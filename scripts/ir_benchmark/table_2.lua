-- Table 2 of Yang et al. (2025), "Breaking the Top-K Barrier": which loss recommends best to users, on matrix
-- factorisation? BPR, LLPAUC, SL, BSL, PSL and SL@20 are trained with the published hyperparameters and judged by
-- Recall@20 and NDCG@20 among all items.
-- Data: Amazon Health and Gowalla with the authors' division (--sets also has electronic and book), or any folder with
-- train.tsv and test.tsv (--sets folder --folder FOLDER --like SET: the hyperparameters of that set). protocol.lua has
-- all decisions.
-- Each run is kept, and a run that was stopped continues from its last epoch. A run of 1,000 negatives on Gowalla takes
-- hours on a CPU.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local experiment = mr.experiment
local protocol, published = dofile(here .. "protocol.lua"), dofile(here .. "published.lua")

local names = { "health", "gowalla", "electronic", "book" }
local args = experiment.args({
  sets = { default = { "health", "gowalla" }, choices = { "folder", table.unpack(names) }, distinct = true,
    help = "which data sets" },
  folder = { path = "folder", default = "", help = "of --sets folder: a folder with train.tsv and test.tsv" },
  like = { default = "health", choices = names, help = "the data set whose hyperparameters --sets folder has" },
  losses = { default = protocol.losses, choices = protocol.losses, distinct = true, help = "which losses" },
  seeds = { default = { 1 }, least = 1, distinct = true, help = "of models, validation parts and negatives" },
  epochs = { default = protocol.epochs, least = 1, help = "epochs of a training" },
  negatives = { default = protocol.negatives, least = 1, most = 1000000,
    help = "sampled negatives of an interaction; BPR has 1" },
  batch = { default = protocol.batch, least = 1, help = "interactions of a step" },
}, { document = "ir_benchmark", smoke = { epochs = 10, negatives = 20, batch = 64 } })

-- Ends the script unless the data set "folder" and the option --folder are given together.
local function check_folder()
  local wanted = false
  for _, name in ipairs(args.sets) do wanted = wanted or name == "folder" end
  if args.folder ~= "" and (args.smoke or not wanted) then
    mr.exit(2, "--folder: has no effect " .. (args.smoke and "beside --smoke" or "without --sets folder"))
  end
  for _, name in ipairs(wanted and not args.smoke and { "train.tsv", "test.tsv" } or {}) do
    local file = io.open(args.folder .. "/" .. name) or io.open(args.folder .. "/" .. name .. ".gz")
    if not file then
      mr.exit(2, ("--folder: expected a folder with train.tsv and test.tsv (or .gz) for --sets folder, got '%s'")
        :format(args.folder))
    end
    file:close()
  end
end

---Opens the data sets before the first run, so that missing data raise an error at once.
local function opened()
  check_folder()
  local found = {}
  for i, name in ipairs(args.sets) do
    local of, at, title = published[name], args.folder, args.folder:gsub("/+$", ""):match "[^/]*$"
    if of then at, title = (args.data ~= "" and args.data .. "/" or "") .. "ir-benchmark/" .. of.folder, of.title end
    found[i] = { name = of and name or "folder " .. title, how = of or published[args.like],
      like = not of and args.like or nil, set = args.smoke and protocol.made_up(name) or protocol.open(title, at) }
  end
  return found
end

-- Makes or reads the run of a loss and a seed on a data set.
local function run_of(data, loss, seed)
  local set, name, how, like = data.set, data.name, data.how[loss], data.like
  return experiment.study(args, {
    name = ("table 2, %s, %s, seed %d"):format(name, loss, seed), metric = "valid",
    settings = { epochs = args.epochs, negatives = args.negatives, batch = args.batch, like = like },
    space = { fold = mr.range(1, 1) },
    run = function(trial)
      local run, model, fold = protocol.train(set, { loss = loss, how = how, seed = seed, epochs = args.epochs,
        negatives = args.negatives, batch = args.batch, trial = trial })
      local test, without = protocol.test(fold, model)
      local result = { valid = run.best.metrics[protocol.select], epoch = run.best.epoch, per_list = {} }
      for _, metric in ipairs(protocol.metrics) do
        result[metric], result[metric .. ", without validation"] = test.mean[metric], without.mean[metric]
        result.per_list[metric] = test[metric]
      end
      return result
    end })
end

local titles = { ["recall@20"] = "Recall@20", ["ndcg@20"] = "NDCG@20" }
local agreement = { of = 0, within = 0, tolerance = "3 %" }

-- Returns the row of a loss: means over seeds, beside the printed numbers of the data set.
local function row_of(data, loss)
  local runs = {}
  for i, seed in ipairs(args.seeds) do runs[i] = run_of(data, loss, seed) end
  local function values(name)
    local found = {}
    for i, results in ipairs(runs) do found[i] = experiment.folds(results, {}, name)[1] end
    return found
  end
  local printed = not args.made_up and not data.like and data.how[loss].printed or {}
  local row = { data = data.set.title, loss = loss, epoch = mr.stats.mean(values "epoch") }
  for c, metric in ipairs(protocol.metrics) do
    local title, own, ratio = titles[metric], values(metric), nil
    row[title], row[title .. ", sd"] = experiment.mean(own, "runs"), mr.stats.summary(own).sd
    row[title .. " without validation"] = mr.stats.mean(values(metric .. ", without validation"))
    if printed[c] then
      ratio = row[title][1] / printed[c]
      agreement.of, agreement.within = agreement.of + 1, agreement.within + (math.abs(ratio - 1) <= 0.03 and 1 or 0)
    end
    row[title .. ", printed"], row[title .. ", ratio"] = printed[c], ratio
  end
  return row
end

local rows, several, has_printed = {}, #args.seeds > 1, not args.made_up
for _, data in ipairs(opened()) do
  for _, loss in ipairs(args.losses) do rows[#rows + 1] = row_of(data, loss) end
end

local columns, last = { { "data" }, { "loss" }, { "epoch", format = "%.0f" } }, {}
for c, metric in ipairs(protocol.metrics) do
  local title = titles[metric]
  columns[#columns + 1] = { title, format = "%.4f", mark = "max" }
  columns[#columns + 1] = several and { title .. ", sd", format = "%.4f" }
  columns[#columns + 1] = has_printed and { title .. ", printed", format = "%.4f" }
  columns[#columns + 1] = has_printed and { title .. ", ratio", format = "%.3f" }
  last[c] = { title .. " without validation", format = "%.4f" }
end
table.move(last, 1, #last, #columns + 1, columns)

local section = experiment.finish(args, nil, (agreement.of > 0 and ("Of %d printed numbers %d are met within 3 %%.")
  :format(agreement.of, agreement.within) or "") .. ([[

Matrix factorisation with %d factors; %d epochs of batches of %d interactions, each with %d negatives (BPR: 1) that are
not the user's items in train. A tenth of each user's items in train is validation, and chooses the epoch by
NDCG@20.]]):format(protocol.factors, args.epochs, args.batch, args.negatives),
  experiment.table{ records = rows, columns = columns, within = { "data" }, by = "Student's t over seeds",
    runs = #args.seeds, legend = [[
Recall@20, NDCG@20: mean over users and seeds on test, among all items but those that the model was trained on; sd:
standard deviation over seeds; printed: in the paper; ratio: of the number to the printed one; without validation: the
user's items of the validation part are left out, too; epoch: that validation chose, mean over seeds.]] })
section.agreement = agreement.of > 0 and agreement or nil
return section
