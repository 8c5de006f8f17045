-- The list of parsers, which night.lua and coverage.lua go by.
local core = require "moonrank.core"
local test = require "moonrank.test"
local sweeps = dofile "tests/support/sweeps.lua"
local it, check, equal = test.it, test.check, test.equal

local parsers, known = dofile "tests/fuzz/parsers.lua", {}
for _, parser in ipairs(parsers) do
  for _, target in ipairs(parser.targets) do known[target] = true end
end

it("every parser's files are there", function()
  for _, parser in ipairs(parsers) do
    for _, file in ipairs(parser.files) do check(core.is_file(file), file) end
  end
end)

it("dictionaries and corpora are of parsers", function()
  for name in sweeps.capture("ls tests/fuzz/dictionaries tests/fuzz/corpus"):gmatch "[^\n]+" do
    local target = name:gsub("%.dict$", "")
    if not name:find ":$" then check(known[target], name) end
  end
end)

it("the scripts say which parsers there are", function()
  if not sweeps.moonrank then return test.skip "MOONRANK does not name the program" end
  for _, script in ipairs{ "night", "coverage" } do
    local said = sweeps.capture(("%s tests/fuzz/%s.lua --only letors 2>&1"):format(sweeps.moonrank, script))
    equal(said:match "no parser 'letors'; there are: letor, letor_cache", "no parser 'letors'; there are: letor, letor_cache", said)
  end
end)

it("fuzzers that are not built are no finding", function()
  if not sweeps.moonrank then return test.skip "MOONRANK does not name the program" end
  for _, script in ipairs{ "night", "coverage" } do
    for _, path in ipairs{ "/nowhere/fuzz", "/tmp" } do
      local said = sweeps.capture(("%s tests/fuzz/%s.lua --only csv --program %s 2>&1"):format(sweeps.moonrank, script, path))
      check(said:find(("moonrank: %s: there is no such program; `cmake --preset fuzz"):format(path), 1, true) == 1, said)
    end
  end
end)
