-- Table 2 of Yang et al. (2025), "Breaking the Top-K Barrier": which loss recommends best to users?

-- Data: Amazon Health and Gowalla with the authors' division (--sets also has electronic and book), or any folder with
-- train.tsv and test.tsv (--sets folder --folder FOLDER --like SET: with that set's hyperparameters). Model: matrix
-- factorisation. Protocol: published hyperparameters; Recall@20 and NDCG@20 among all items (protocol.lua).
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local protocol, published = dofile(here .. "protocol.lua"), dofile(here .. "published.lua")

local names = { "health", "gowalla", "electronic", "book" }
local args = mr.experiment.args({
  sets = { default = { "health", "gowalla" }, choices = { "folder", table.unpack(names) }, help = "which data sets" },
  folder = { path = "folder", default = "",
    help = "for --sets folder: it has train.tsv and test.tsv, a line of names and then lines of user, tab and item" },
  like = { type = "string", choices = names, shown = "health",
    help = "the data set whose hyperparameters --sets folder has" },
  losses = { default = protocol.losses, choices = protocol.losses, help = "which losses" },
  seeds = { default = { 1 }, least = 1, distinct = true, help = "seeds of models, validation parts and negatives" },
  epochs = { default = protocol.epochs, least = 1, help = "epochs of a training" },
  negatives = { default = protocol.negatives, least = 1, most = 1000000,
    help = "sampled negatives of an interaction; BPR has 1" },
  batch = { default = protocol.batch, least = 1, help = "interactions of a step" },
}, { document = "ir_benchmark", smoke = { epochs = 10, negatives = 20, batch = 64 } })
if (args.folder ~= "") ~= (table.concat(args.sets, " "):find "folder" ~= nil and not args.smoke) then
  mr.exit(2, "--folder: expected a folder with train.tsv and test.tsv with --sets folder, and none with --smoke")
end
if args.like and args.folder == "" then mr.exit(2, "--like: has no effect without --sets folder") end

-- Opens a data set. Returns the set, a name for its runs, and the published hyperparameters of its trainings (`how`).
local function open(name)
  local of, title = published[name], args.folder:match "([^/]*)/*$"
  local set = args.smoke and protocol.made_up(name) or not of and protocol.open(title, args.folder)
    or protocol.open(of.title, mr.experiment.place(args, "ir-benchmark/" .. of.folder))
  local like = not of and (args.like or "health") or nil
  return { set = set, name = of and name or "folder " .. title, how = of or published[like], like = like }
end

-- Makes or reads the run of a loss and a seed on a data set.
local function run_of(data, loss, seed)
  local set, how, epochs, negatives, batch = data.set, data.how[loss], args.epochs, args.negatives, args.batch
  return mr.experiment.study(args, { name = ("table 2, %s, %s, seed %d"):format(data.name, loss, seed),
    settings = { epochs = epochs, negatives = negatives, batch = batch, like = data.like },
    space = { fold = mr.range(1, 1) }, run = function(trial)
      return protocol.outcome(protocol.train(set, { loss = loss, how = how, seed = seed, trial = trial,
        epochs = epochs, negatives = negatives, batch = batch }))
    end })
end

-- Returns the row of a loss on a data set: means over seeds, beside the numbers that the paper prints.
local function row_of(data, loss)
  local runs, printed = {}, not args.smoke and not data.like and data.how[loss].printed or {}
  for i, seed in ipairs(args.seeds) do runs[i] = run_of(data, loss, seed) end
  local row = { data = data.set.title, loss = loss, epoch = mr.stats.mean(mr.experiment.folds(runs, {}, "epoch")) }
  for c, title in ipairs(protocol.titles) do
    local function over_seeds(what) return mr.experiment.folds(runs, {}, protocol.metrics[c] .. what) end
    local own = over_seeds ""
    row[title], row[title .. ", sd"] = mr.experiment.mean(own, "runs"), mr.stats.summary(own).sd
    row[title .. ", printed"], row[title .. ", ratio"] = printed[c], printed[c] and row[title][1] / printed[c]
    row[title .. " without validation"] = mr.stats.mean(over_seeds ", without validation")
  end
  return row
end

local sets, rows, columns = {}, {}, { { "data" }, { "loss" }, { "epoch", format = "%.0f" } }
-- opens all data sets before the first run, so that missing data are found
for i, name in ipairs(args.sets) do sets[i] = open(name) end
local with_printed = false
for _, data in ipairs(sets) do
  with_printed = with_printed or not args.smoke and not data.like
  for _, loss in ipairs(args.losses) do rows[#rows + 1] = row_of(data, loss) end
end
for _, title in ipairs(protocol.titles) do
  columns[#columns + 1] = { title, format = "%.4f", mark = "max" }
  columns[#columns + 1] = #args.seeds > 1 and { title .. ", sd", format = "%.4f" }
  columns[#columns + 1] = with_printed and { title .. ", printed", format = "%.4f" }
  columns[#columns + 1] = with_printed and { title .. ", ratio", format = "%.3f" }
end
for _, title in ipairs(protocol.titles) do
  table.insert(columns, { title .. " without validation", format = "%.4f" })
end

local agreement = mr.experiment.agreement(rows, { fields = protocol.titles, share = 0.03 })
local section = mr.experiment.finish(args, nil, (agreement and agreement.text .. "\n" or "") .. ([[
Matrix factorisation with %d factors; %d epochs of batches of %d interactions, each with %d negatives (BPR: 1) that are
not the user's items in train. Validation chooses the epoch by NDCG@20, on a tenth of each user's items in train.]]
  ):format(protocol.factors, args.epochs, args.batch, args.negatives),
  mr.experiment.table{ records = rows, columns = columns, within = { "data" }, by = "Student's t over seeds",
    runs = #args.seeds, legend = [[
Recall@20, NDCG@20: mean over users and seeds on test, among all items but those that the model was trained on; sd:
standard deviation over seeds; printed: in the paper; ratio: of the number to the printed one; without validation: the
user's items of the validation part are left out, too; epoch: that validation chose, mean over seeds.]] })
section.agreement = agreement
return section
