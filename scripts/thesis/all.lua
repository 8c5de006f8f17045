-- The whole thesis (Westerborg 2022) in one command: runs what is missing, makes every table and figure, and writes one report of them.
-- Interrupted, it goes on where it was. The runs of the thesis alone, one seed on MovieLens and MQ2008, are --seeds 1; the claim that a bound
-- of our own is better takes three.
local here = arg[0]:match("^(.*/)") or "./"
local mr = require "moonrank"
local core = require "moonrank.core"
local runs, report = dofile(here .. "runs.lua"), dofile(here .. "report.lua")
local silence, thinning, stronger = dofile(here .. "silence.lua"), dofile(here .. "thinning.lua"), dofile(here .. "stronger.lua")
local better = dofile(here .. "better.lua")

local args = runs.args{
  seeds = { default = { 1, 2, 3 }, help = "seeds of splits, negatives and models; tables and figures take the first" },
  sets = { default = { "movielens", "mq2008" }, help = "data sets of the claim (citeulike is the third); the thesis' own are always run" },
  others = { default = { "mslr", "clueweb" }, help = "data sets of other_data.lua (citeulike is the third)" },
  out = { default = "results/thesis", help = "folder of the report and the figures" },
}
if args.smoke then args.seeds = { 1 } end

-- What data is missing is said at once
for _, names in ipairs{ args.sets, args.others } do
  for _, name in ipairs(names) do runs.set(args, name) end
end

-- All runs first, so that the scripts below find them
for _, names in ipairs{ { "movielens", "mq2008" }, args.others } do
  for _, name in ipairs(names) do runs.of(args, name, args.seeds[1]) end
end
args.seed = args.seeds[1]
silence.study(args)
thinning.study(args)
stronger.study(args)
better.studies(args)
for _, name in ipairs{ "movielens", "mq2008" } do runs.sizes(args, name) end
for _, name in ipairs(args.sets) do
  for _, seed in ipairs(args.seeds) do runs.of(args, name, seed) end
end

local seed = { "--seed", tostring(args.seeds[1]) }
local claim = { "--seeds", table.concat(args.seeds, ","), "--sets", table.concat(args.sets, ",") }
local scripts = {
  { "table_5_1", "Table 5.1, MovieLens", seed }, { "table_5_1_mq2008", "Table 5.1, MQ2008", seed },
  { "claim", "Is the logit of the distribution better than all?", claim },
  { "why_distribution_fails", "Why the distribution bound ruins nDCG, and what cures it",
    { "--out", args.out .. "/why_distribution_fails.svg", table.unpack(seed) } },
  { "all_pairs", "Trained on one metric, measured by another", seed },
  { "nsr_shift", "More negatives in training than in test", seed }, { "stronger_models", "Stronger models", seed },
  { "other_data", "Other data", { "--sets", table.concat(args.others, ","), table.unpack(seed) } },
  { "better_reference", "Bounds that compare with a ranker better than random",
    { "--out", args.out .. "/better_reference.svg", table.unpack(seed) } },
  { "sizes", "Sizes of models, MovieLens", { "--set", "movielens" } }, { "sizes", "Sizes of models, MQ2008", { "--set", "mq2008" } },
}
local figures = { "1_1", "3_1", "3_2", "3_3", "3_4", "3_5", "3_6", "3_7" }
for i = 1, 10 do figures[#figures + 1] = "5_" .. i end
for _, number in ipairs(figures) do
  local words = { "--out", ("%s/figure_%s.svg"):format(args.out, number) }
  scripts[#scripts + 1] = { "figure_" .. number, "Figure " .. number:gsub("_", "."), words, plain = number:sub(1, 1) ~= "5" }
end

-- What a script beside this one hands over when it runs with these words.
local function run(script)
  local words, was = { [0] = here .. script[1] .. ".lua" }, arg
  for i = -1, -16, -1 do words[i] = arg[i] end
  for _, list in ipairs{ script[3], script.plain and (args.smoke and { "--smoke" } or {}) or runs.words(args) } do
    table.move(list, 1, #list, #words + 1, words)
  end
  print(("\n== %s\n"):format(script[2]))
  rawset(_G, "arg", words)
  local ok, section = xpcall(dofile, debug.traceback, words[0])
  rawset(_G, "arg", was)
  if not ok then error(section, 0) end
  section.title, section.command = script[2], "moonrank " .. words[0] .. " " .. table.concat(words, " ")
  return section
end

-- The learning rates of all runs.
local function rates_section()
  local columns, lines, seen = { "data", "loss", table.unpack(runs.bounds) }, {}, {}
  for _, names in ipairs{ { "movielens", "mq2008" }, args.sets, args.others } do
    for _, name in ipairs(names) do
      for _, loss in ipairs(seen[name] and {} or runs.losses) do
        local line = { runs.set(args, name).title, runs.title_of[loss] }
        for _, bound in ipairs(runs.bounds) do line[#line + 1] = runs.rates[name][loss][bound] end
        lines[#lines + 1] = line
      end
      seen[name] = true
    end
  end
  return { title = "Learning rates", command = "moonrank " .. here .. "learning_rates.lua",
    tables = { mr.table{ columns = columns, rows = lines } },
    text = "Of Adam, by the loss's own metric on validation: the best of a few (the grid of each data set is in data.lua)." }
end

local sections = {}
for i, script in ipairs(scripts) do sections[i] = run(script) end
sections[#sections + 1] = rates_section()

local path = args.out .. "/report.html"
core.make_folder(path)
report.write(path, { title = "User- and query-wise metric bounding, reproduced", sections = sections, text = ([[
Tables and figures of R. Westerborg, User/query-wise metric bounding in learning to rank (TU Delft, 2022), made anew, with the printed
numbers beside them; then what it leaves open. Losses are smooth nDCG, AP and nRBP; "distribution" is the thesis' own bound (300,000 random
orders, gain of Eq. 3.13), "distribution_log" and "distribution_logit" are those of the exact distribution, with kappa = 8. Epoch and
learning rate are chosen on validation, the test part is looked at once; p-values are of permutation tests of paired changes, corrected
by Holm over each table; d is the mean change in its standard deviations. Lists without relevant rows have no metric and are skipped.
Made by: moonrank %s %s (version %s).]]):format(arg[0], table.concat(arg, " "), core.version()) })
print("\nReport: " .. path)
