-- Table 1 and Figure 1 of Li & Wu with --smoke, on made-up data: what they show is what the store holds.
local mr = require "moonrank"
local scripts = dofile "tests/support/scripts.lua"
local sweeps = dofile "tests/support/sweeps.lua"
local mean = dofile("tests/support/numbers.lua").mean
local test = require "moonrank.test"
local equal, check, near = test.equal, test.check, test.near

-- The only trial with these parameters: its number.
local function trial_of(results, where)
  local columns = results:columns()
  local rows = columns:rows("spec", where)
  equal(#rows, 1)
  return columns:column("spec", "number")[rows[1]]
end

local shown = { paper = "SGD, 0.001", sgd = "SGD, best rate", adam = "Adam, best rate" }

local function escaped(text) return (text:gsub("[%-().]", "%%%0")) end

scripts.it("table_1.lua --smoke: means and differences are those of the store, chance is that of tied scores, no printed number",
  {}, function(folder)
  local out = scripts.run(folder, "cmu/table_1.lua", "--smoke --workers 0")
  check(not out:find "printed" and not out:find "MSLR", out)
  local results = mr.results(folder .. "/results/cmu/smoke.db", "systems, mslr, made-up data")
  equal(results:counts(), { done = 14 })
  local found = {}
  for _, system in ipairs{ "RankNet", "DirectRanker", "Class NN", "LambdaMART", "Rank LR", "Class LR", "Class RF", "Class Boost" } do
    local network = system:find "Net" or system:find "Direct" or system:find "NN"
    for _, recipe in ipairs(network and { "paper", "sgd", "adam" } or { false }) do
      local title = recipe and ("%s (%s)"):format(system, shown[recipe]) or system
      local number = trial_of(results, { system = system, recipe = recipe or nil })
      found[title] = mean(results:per_list(number, "own"):totable())
      local text = out:match("[gn] +" .. escaped(title) .. "[^\n]- (%d%.%d%d%d%d) ")
      near(tonumber(text), found[title], 5e-5, title)
    end
  end
  near(tonumber(out:match "Class LR +Rank LR +([+-][%d.]+)"), found["Class LR"] - found["Rank LR"], 5e-5)
  local queries = dofile "scripts/cmu/queries.lua"
  local lists = queries.set({ smoke = true, data = "" }, "mslr").fold(1).test.lists
  local tied = mr.metrics.ndcg(mr.zeros({ lists.rows }), lists, { k = 10 }):totable()
  local relevant, counted = lists.relevant:totable(), {}
  for l, value in ipairs(tied) do counted[#counted + 1] = relevant[l] > 0 and value or nil end
  near(tonumber(out:match "random ranking +([%d.]+)"), mean(counted), 5e-5)
end)

scripts.it("figure_1.lua --smoke: curves are what the runs reported", { "gnuplot" }, function(folder)
  local out = scripts.run(folder, "cmu/figure_1.lua", "--smoke --workers 0")
  local results = mr.results(folder .. "/results/cmu/smoke.db", "systems, mslr, made-up data")
  for recipe, title in pairs(shown) do
    local reports = results:reports(trial_of(results, { system = "RankNet", recipe = recipe }))
    local first, last = out:match("RankNet +" .. escaped(title) .. " +([%d.]+) +([%d.]+)")
    near({ tonumber(first), tonumber(last) }, reports.loss.values, 5e-5)
    equal(#reports["valid_ndcg@10"].values, 2)
  end
  check(sweeps.read(folder .. "/results/cmu/figure_1.svg"):lower():find("made-up", 1, true), "the figure says so")
end)
