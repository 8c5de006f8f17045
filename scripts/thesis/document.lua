-- Makes every table and figure of the thesis (Westerborg 2022) as sections of a report, for all.lua in this folder and
-- for scripts/all.lua. If a section cannot be made, e.g. because its data are missing, its text says why, and the other
-- sections are still made.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local runs, sections_of = dofile(here .. "beside.lua"), dofile(here .. "../../docs/report/sections.lua")

local figures = {
  { "1_1", "lower bounds of nDCG and AP" },
  { "3_1", "losses under min-max bounding" },
  { "3_2", "expected losses by the number of relevant items" },
  { "3_3", "losses under expectation based bounding" },
  { "3_4", "losses under expectation-max bounding" },
  { "3_5", "smooth distributions by their steepness" },
  { "3_6", "smooth distributions at the steepness of Eq. 3.13" },
  { "3_7", "losses under distribution based bounding" },
  { "5_1", "nDCG@k by k under every bound" },
  { "5_2", "distributions of scores, nDCG bounded and not" },
  { "5_3", "distributions of scores, AP bounded and not" },
  { "5_4", "distributions of scores, nRBP bounded and not" },
  { "5_5", "scores of users and queries, nDCG bounded against not" },
  { "5_6", "scores of users and queries, AP bounded against not" },
  { "5_7", "scores of users and queries, nRBP bounded against not" },
  { "5_8", "changes by bounding nDCG, by the number of relevant items" },
  { "5_9", "changes by bounding AP, by the number of relevant items" },
  { "5_10", "changes by bounding nRBP, by the number of relevant items" },
}

-- Returns the scripts that make the sections of the report, each as {name, title, command line options}. `of` is the
-- data set whose name replaces %s in the title. `without` lists options that the script does not have. A `plain` script
-- needs no data, so it gets no options about data and stored training runs.
local function scripts_of(args)
  local seed, claim = { "--seed", tostring(args.seeds[1]) }, { "--sets", table.concat(args.sets, ",") }
  if not args.smoke then table.move({ "--seeds", table.concat(args.seeds, ",") }, 1, 2, 3, claim) end
  local scripts = {
    { "table_5_1", "Table 5.1: every loss under every bound, %s", seed, of = "movielens" },
    { "table_5_1_mq2008", "Table 5.1: every loss under every bound, %s", seed, of = "mq2008" },
    { "table_5_1_nrbp", "Table 5.1 by nRBP(0.8) and nRBP(0.9)", seed },
    { "claim", "Is the logit of the distribution better than all?", claim },
    { "why_distribution_fails", "Why the distribution bound ruins nDCG, and what cures it",
      { "--out", args.out .. "/why_distribution_fails.svg", table.unpack(seed) }, without = { "recipe" } },
    { "why_curves_differ", "Why nDCG@k falls with k on one data set and rises on the other",
      { "--out", args.out .. "/why_curves_differ.svg", table.unpack(seed) }, without = { "recipe", "samples" } },
    { "optimisers", "Stochastic gradient descent and Adam",
      { "--out", args.out .. "/optimisers.svg", table.unpack(seed) }, without = { "recipe" } },
    { "sampled_expectations", "Expectations from random rankings", seed, without = { "recipe", "samples" } },
    { "all_pairs", "Trained on one metric, measured by another", seed },
    { "nsr_shift", "More negatives in training than in test", seed, without = { "recipe", "samples" } },
    { "stronger_models", "Stronger models", seed, without = { "samples" } },
    { "other_data", "Other data", { "--sets", table.concat(args.others, ","), table.unpack(seed) } },
    { "better_reference", "Bounds that compare with a ranker better than random",
      { "--out", args.out .. "/better_reference.svg", table.unpack(seed) }, without = { "samples" } },
    { "sizes", "Sizes of models, %s", { "--set", "movielens" }, of = "movielens", without = { "samples" } },
    { "sizes", "Sizes of models, %s", { "--set", "mq2008" }, of = "mq2008", without = { "samples" } },
    { "tables_2", "Tables 2.2 to 2.4: DCG, RBP and AP rank by rank", {}, plain = true },
    { "tables_3", "Tables 3.1 to 3.3: expectations, order by order", {}, plain = true },
  }
  for _, each in ipairs(figures) do
    local number = each[1]
    scripts[#scripts + 1] = { "figure_" .. number, ("Figure %s: %s"):format((number:gsub("_", ".")), each[2]),
      { "--out", ("%s/figure_%s.svg"):format(args.out, number) }, plain = number:sub(1, 1) ~= "5" }
  end
  return scripts
end

-- Returns command line words that pass this script's option values to another script. Values that equal the default are
-- left out, and so are the options named in `without`, which the other script does not have.
local function words_of(args, without)
  local more = { recipe = args.recipe ~= runs.recipe.default and args.recipe or nil,
    samples = not args.smoke and args.samples ~= runs.samples.default and args.samples or nil }
  for _, name in ipairs(without or {}) do more[name] = nil end
  return mr.experiment.words(args, more)
end

local function title_of(args, script)
  return script.of and script[2]:format(runs.title(script.of, args.smoke)) or script[2]
end

-- Runs another script and returns its tables and figures as a section of the report. If the script fails, the section
-- says why.
local function run(args, script)
  local words = {}
  for _, list in ipairs{
    script[3],
    script.plain and (args.smoke and { "--smoke" } or {}) or words_of(args, script.without) } do
    table.move(list, 1, #list, #words + 1, words)
  end
  local one = { path = here .. script[1] .. ".lua", title = title_of(args, script), words = words }
  return sections_of.attempt(one, function() return sections_of.run(one) end)
end

-- Returns a section of the report: a table of the learning rates by data set, loss and bound.
local function rates_section(args)
  local columns, lines, seen = { "data", "loss", table.unpack(runs.bounds) }, {}, {}
  for _, names in ipairs{ { "movielens", "mq2008" }, args.sets, args.others } do
    for _, name in ipairs(names) do
      for _, loss in ipairs(seen[name] and {} or runs.losses) do
        local line = { args.made_up and "as for " .. name or runs.title(name), runs.title_of[loss] }
        for _, bound in ipairs(runs.bounds) do line[#line + 1] = runs.rates[name][loss][bound] end
        lines[#lines + 1] = line
      end
      seen[name] = true
    end
  end
  return { title = "Learning rates", command = "moonrank " .. here .. "learning_rates.lua",
    tables = { mr.table{ columns = columns, rows = lines } },
    text = args.made_up and "Of Adam, as they were chosen on the data whose place made-up data take here."
      or "Of Adam, by the loss's own metric on validation: the best of a few "
        .. "(protocol.lua and beside.lua have the rates that are tried)." }
end

local text = [[
Tables and figures of R. Westerborg, User/query-wise metric bounding in learning to rank (TU Delft, 2022)%s.
Sections without a number in their title go beyond the thesis.

Losses are smooth nDCG, AP and nRBP. "distribution" is the thesis' own bound (%d random orders, steepness of Eq. 3.13).
"distribution_log" and "distribution_logit" are the logarithm and the logit of the exact distribution, with kappa = 8.

Epoch and learning rate are chosen on validation, and the test part is read once. p-values come from permutation tests
of paired changes, corrected by Holm over each table. d is the mean change in standard deviations of the changes. Lists
without relevant rows have no metric and are skipped.]]

local args = runs.args({
  seeds = { default = runs.seeds, distinct = true,
    help = "seeds of splits, negatives and models; tables and figures take the first" },
  sets = { default = { "movielens", "mq2008" }, choices = runs.names,
    help = "data sets of the claim; those of the thesis are always run" },
  others = { default = { "mslr", "clueweb" }, choices = runs.names, help = "data sets of other_data.lua" },
  out = { path = "new folder", default = "results/thesis", help = "folder of the report and the figures" },
  recipe = runs.recipe, samples = runs.samples,
}, { seeds = { 1 } })
local sections = {}
for i, script in ipairs(scripts_of(args)) do sections[i] = run(args, script) end
sections[#sections + 1] = rates_section(args)
local beside = args.made_up and "" or ", with the printed numbers beside ours"
return { sections = sections, out = args.out, made_up = args.made_up, text = text:format(beside, args.samples) }
