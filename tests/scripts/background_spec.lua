-- The scripts of lecture/background in their smoke form: each prints its rankers, which beat chance.
local mr = require "moonrank"
local test = require "moonrank.test"
local in_process = dofile "tests/support/in_process.lua"
local scripts = dofile "tests/support/scripts.lua"
local it, check, equal, near = test.it, test.check, test.equal, test.near

-- How many rankers each prints.
local rankers = { adarank = 1, rankboost = 1, prank = 2, subset_ranking = 2, two_stages = 5, listrank_mf = 2 }

for name, expected in pairs(rankers) do
  scripts.it(name .. ".lua --smoke", {}, function(folder)
    local text = scripts.run(folder, ("lecture/background/%s.lua"):format(name), "--smoke")
    check(text:find("made-up", 1, true), text)
    local chance, count = tonumber(text:match "by chance%s+([%d.]+)"), 0
    for ranker, value in text:gmatch "\n([^\n]-)%s%s+(0%.%d+)" do
      if ranker ~= "by chance" then
        count = count + 1
        check(tonumber(value) > chance, ranker .. " " .. value)
      end
    end
    equal(count, expected, text)
  end)
end

it("a ranker's mean is over all test queries with relevant documents, not over folds", function()
  local function part(...) return { lists = mr.lists{ ... } } end
  -- of the second fold's four queries one has no relevant document
  local folds = { { test = part({ 1, 0 }) }, { test = part({ 0, 1 }, { 0, 1 }, { 0, 0 }, { 0, 1 }) } }
  local common = in_process.load("scripts/lecture/background/common.lua", {
    data = function(data) rawset(data, "queries", function() return folds, "made" end) end,
    protocol = function(protocol) rawset(protocol, "query_fold", function(all, number) return all[number] end) end })
  local shown
  rawset(common, "table", function(_, o)
    shown = o
    return {}
  end)
  common.compare({ seed = 1 }, function(_, tested)
    local scores = {}
    for i = 1, tested.lists.rows do scores[i] = i % 2 end  -- each query's first row is on top
    return { { "first", mr.tensor(scores, { dtype = "float64" }) } }
  end)
  -- nDCG@10 is 1 once and 1/log2(3) three times
  near(shown.means.first, (1 + 3 * math.log(2) / math.log(3)) / 4, 1e-6)
  equal({ shown.count, shown.folds, shown.names }, { 4, 2, { "first", "by chance" } })
end)

it("the highest ranker is named, whose mean chance does not beat by being one of them", function()
  local common, said = dofile "scripts/lecture/background/common.lua", print
  rawset(_G, "print", function() end)
  local ok, section = pcall(common.table, {}, { title = "made", unit = "queries", head = "ranker", folds = 2, count = 7,
    names = { "a", "b", "by chance" }, means = { a = 0.25, b = 0.5, ["by chance"] = 0.75 } })
  rawset(_G, "print", said)
  check(ok, section)
  check(section.text:find("that of b (0.5000)", 1, true) and section.text:find("0.7500", 1, true), section.text)
  equal(section.tables[1].rows, { { "a", 0.25 }, { "b", 0.5 }, { "by chance", 0.75 } })
end)
