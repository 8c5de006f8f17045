-- The scripts of lecture/background in their smoke form: each prints its rankers, which beat chance.
local test = require "moonrank.test"
local scripts = dofile "tests/support/scripts.lua"
local check, equal = test.check, test.equal

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
