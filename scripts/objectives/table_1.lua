-- Table 1 of Tang et al. (2023): with which objective does one network rank best? MseNet, RankNet, ApproxNDCG and
-- NeuralNDCG are trained in batches of queries and query by query, and judged by nDCG, precision and average precision.
-- Data: MQ2008 (five folds) and the MSLR slice (one fold), or MSLR-WEB10K if available (--sets mq2008,web10k). Network:
-- one hidden layer of five units, ReLU; Adam. Every algorithm has the same test queries, those of the official folds
-- (the paper splits off a random tenth of the queries instead). Validation chooses the epoch. Results are at the
-- learning rate of the paper and at the rate that is best on validation.
-- With --recipe code, the table has what the authors' code computes, under three seeds (table_1_code.lua).
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local experiment, training = mr.experiment, dofile(here .. "training.lua")
local protocol = training.protocol

-- Numbers of Table 1 ("printed"), and of files in the authors' repository at 767b70b where these are newer ("their
-- file"), in the order of `protocol.of_table`.
local published = {
  mq2008 = [[
MseNetBatched, printed: 0.79 0.47 0.56 0.63 0.28 0.26 0.27 0.45
RankNet, printed: 0.85 0.61 0.68 0.74 0.47 0.41 0.37 0.56
ApproxNDCGBatched, printed: 0.82 0.55 0.63 0.67 0.39 0.36 0.31 0.49
ApproxNDCGQbQ, printed: 0.87 0.66 0.72 0.76 0.53 0.46 0.39 0.63
NeuralNDCGBatched, printed: 0.89 0.74 0.79 0.88 0.60 0.47 0.44 0.74
NeuralNDCGQbQ, printed: 0.89 0.74 0.80 0.86 0.62 0.52 0.40 0.75]],
  web10k = [[
MseNetQbQ, printed: 0.23 0.14 0.10 0.086 0.44 0.44 0.44 0.44
MseNetQbQ, their file: 0.2038 0.1332 0.0945 0.0792 0.3776 0.3776 0.3776 0.3776
MseNetBatched, printed: 0.67 0.16 0.18 0.20 0.26 0.302 0.308 0.43
MseNetBatched, their file: 0.6334 0.1153 0.1357 0.1519 0.1020 0.1403 0.1514 0.3364
ApproxNDCGBatched, printed: 0.79 0.43 0.47 0.48 0.78 0.76 0.72 0.61
ApproxNDCGBatched, their file: 0.8040 0.5051 0.5004 0.5206 0.7755 0.7117 0.7024 0.5945
ApproxNDCGQbQ, printed: 0.79 0.45 0.47 0.49 0.77 0.73 0.71 0.63
ApproxNDCGQbQ, their file: 0.8033 0.5146 0.5126 0.5181 0.7704 0.7423 0.6922 0.5901
NeuralNDCGBatched, printed: 0.79 0.46 0.45 0.46 0.70 0.686 0.654 0.611
NeuralNDCGBatched, their file: 0.7983 0.4899 0.4901 0.4969 0.7653 0.6964 0.6752 0.5897]],
}

local args = training.args{ recipe = training.recipe,
  sets = { default = { "mq2008", "mslr" }, choices = protocol.set_names, distinct = true, help = "which data" } }

-- Adds the published numbers of an algorithm to the rows of a table. Beside the slice stand those of MSLR-WEB10K.
local function add_published(rows, name, algorithm)
  local of = not args.smoke and published[protocol.sets[name].kind == "mslr" and "web10k" or name] or ""
  for who, what, numbers in of:gmatch "(%w+), ([^:\n]+): ([^\n]+)" do
    local row = { algorithm, name == "mslr" and what .. ", MSLR-WEB10K" or what }
    for number in numbers:gmatch "%S+" do row[#row + 1] = number end
    rows[#rows + 1] = who == algorithm and row or nil
  end
end

-- Opens all data sets first, so that missing data raise an error before any run.
for _, name in ipairs(args.sets) do training.set(args, name) end
if args.recipe == "code" then return dofile(here .. "table_1_code.lua")(args, add_published) end

local how = [[
Every algorithm is evaluated on the test queries of the official folds, where the paper splits off a tenth of all
queries at random. RankNet is trained query by query, where the paper has batches of 64 (section 4.2.1). Networks are
trained at four learning rates (0.0001 to 0.1). Validation chooses their epoch, and the rate in the lines "rate
chosen", by nDCG with the gain 2^y - 1; the lines "rate of the text" have the learning rate of section 4.2. Of equal
scores the mean over their orders counts. Queries without relevant documents have no metric and are left out.]]

local tables, texts, findings = {}, {}, {}
for i, name in ipairs(args.sets) do
  local set, results, rows = training.set(args, name), training.of(args, name), {}
  local random, cells = training.random(set), training.cells(set)
  for _, algorithm in ipairs(protocol.names) do
    training.add_algorithm(rows, cells, set, results, algorithm)
    add_published(rows, name, algorithm)
  end
  training.add_random(rows, cells, random)
  tables[2 * i - 1] = training.named(set.title .. protocol.caption, rows, cells, "max")
  tables[2 * i], texts[i], findings[i] = training.changes(set, results, random.ndcg)
end

local section = experiment.finish(args, nil, table.concat(texts, "\n\n") .. "\n\n" .. how, table.unpack(tables))
section.finding = not args.smoke and ("Trained and evaluated alike, networks of all objectives have a mean nDCG %s.")
  :format(table.concat(findings, " and ")) or nil
return section
