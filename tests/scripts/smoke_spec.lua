-- Tests that scripts run with --smoke in seconds from any folder, and refuse options that have no effect.
local says = require "tests.support.says"
local test = require "moonrank.test"
local scripts = dofile "tests/support/scripts.lua"
local sweeps = dofile "tests/support/sweeps.lua"
local check = test.check

scripts.it("quickstart.lua --smoke shows metrics and bounds on made-up ratings", {}, function(folder)
  local text = scripts.run(folder, "quickstart.lua", "--smoke")
  check(text:find("\nTest metrics on made%-up ratings:\n"), "says which data: " .. text)
  check(not text:find("on MovieLens", 1, true), text)
  check(text:find("distribution bound draws %d+ random orders"), "says how many orders")
  says(text, "ndcg", "ap", "nrbp", "minmax", "expectation_max", "distribution")
end)

scripts.it("lecture/lambdamart.lua --smoke shows rankers on made-up queries", { "xgboost" }, function(folder)
  local text = scripts.run(folder, "lecture/lambdamart.lua", "--smoke")
  check(text:find("means over 1 fold of made%-up queries") and not text:find("nan", 1, true), text)
  says(text, "LambdaMART, nDCG, minmax", "rank:map", "McRank", "random forest")
  local ndcg, by_letor = text:match "random forest +([%d.]+) +([%d.]+)"
  check(tonumber(by_letor) < tonumber(ndcg), "queries with fewer than 10 documents count as 0: " .. text)
end)

scripts.it("tutorial/a_new_bound.lua --smoke runs from top to bottom", { "gnuplot" }, function(folder)
  local text = scripts.run(folder, "tutorial/a_new_bound.lua", "--smoke --out pictures")
  check(text:find("trained on made%-up ratings"), text)
  check(text:find("slope short : long, NSR 1 .- 25\n") and text:find "\ngradient: ", text)
  check(sweeps.read(folder .. "/pictures/comparison.svg"):find("made%-up ratings"), "the figure says so too")
  check(sweeps.read(folder .. "/pictures/sqrt_range.svg"):find("<svg", 1, true), "the bound's own")
end)

-- Options of every script that have no effect beside other options. The script must end at once with a message instead
-- of ignoring them.
local useless = {
  ["quickstart.lua"] = { "--smoke --epochs 3" },
  ["tutorial/a_new_bound.lua"] = { "--smoke --epochs 3" },
  ["lecture/lambdamart.lua"] = { "--smoke --rounds 3", "--smoke --trees 3" },
  ["study/sweep_template.lua"] = { "--smoke --epochs 3", "--smoke --folds 3" },
  ["study/which_parameters.lua"] = { "--smoke --epochs 9", "--smoke --users 30" },
  ["study/learning_rates.lua"] = { "--smoke --losses ap", "--smoke --rates 0.1", "--smoke --folds 2",
    "--smoke --epochs 3" },
  ["all.lua"] = { "--smoke --data ." },
  ["thesis/all.lua"] = { "--smoke --samples 10", "--smoke --seeds 2", "--smoke --data ." },
  ["thesis/table_5_1.lua"] = { "--smoke --samples 10", "--smoke --data ." },
  ["thesis/table_5_1_mq2008.lua"] = { "--smoke --samples 10", "--smoke --data ." },
  ["thesis/claim.lua"] = { "--smoke --samples 10", "--smoke --seeds 2", "--smoke --data ." },
  ["thesis/all_pairs.lua"] = { "--smoke --samples 10" },
  ["thesis/other_data.lua"] = { "--smoke --samples 10" },
  ["thesis/learning_rates.lua"] = { "--smoke --samples 10" },
  ["thesis/why_distribution_fails.lua"] = { "--smoke --samples 10", "--recipe published" },
  ["thesis/nsr_shift.lua"] = { "--samples 10", "--recipe published", "--smoke --data ." },
  ["thesis/stronger_models.lua"] = { "--samples 10", "--smoke --data ." },
  ["thesis/better_reference.lua"] = { "--samples 10", "--smoke --data ." },
  ["thesis/sizes.lua"] = { "--samples 10", "--smoke --data ." },
  ["sigir21/figure_1.lua"] = { "--smoke --nsr 1", "--smoke --epochs 3", "--smoke --data ." },
  ["sigir21/figure_5.lua"] = { "--smoke --nsr 5", "--samples 10" },
  ["grid/grid.lua"] = { "--smoke --orders 10", "--smoke --data ." },
  ["grid/learning_rates.lua"] = { "--smoke --data ." },
  ["thesis/figure_1_1.lua"] = { "--smoke --sizes 5" },
  ["thesis/figure_3_2.lua"] = { "--smoke --most 5" },
  ["thesis/figure_3_5.lua"] = { "--smoke --points 5" },
  ["thesis/figure_3_6.lua"] = { "--smoke --points 5", "--smoke --samples 10" },
  ["thesis/figure_3_7.lua"] = { "--smoke --points 5", "--smoke --samples 10", "--smoke --start 5" },
  ["thesis/figure_5_1.lua"] = { "--smoke --label 1", "--smoke --samples 10", "--smoke --data ." },
}

scripts.it("scripts refuse options that have no effect beside others", {}, function(folder)
  for script, cases in pairs(useless) do
    for _, words in ipairs(cases) do
      local status, out, text = sweeps.run(folder, ("%s/scripts/%s"):format(scripts.root, script), words)
      local name = words:match "(%-%-%S+) %S+$"
      local refused = text:find("moonrank: " .. name .. ":", 1, true) and text:find("--smoke", 1, true)
        or text:find("moonrank: unknown option '" .. name .. "'", 1, true)
      check(status ~= 0 and refused, ("%s %s: %s%s"):format(script, words, out, text))
    end
  end
end)
