-- The scripts of lecture/background in their smoke form: each prints its rankers, which beat chance.
local test = require "moonrank.test"
local program = dofile "tests/support/program.lua"
local it, check, equal = test.it, test.check, test.equal

-- How many rankers each prints.
local rankers = { adarank = 1, rankboost = 1, prank = 2, subset_ranking = 2, two_stages = 5, listrank_mf = 2 }

for name, expected in pairs(rankers) do
  it(name .. ".lua --smoke", function()
    if not program.moonrank then return test.skip "MOONRANK does not name the program" end
    local ok, text = program.run(("%s scripts/lecture/background/%s.lua --smoke"):format(program.moonrank, name))
    check(ok and text:find("made-up", 1, true), text)
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
