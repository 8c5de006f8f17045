-- What mutants.lua leaves alone. It runs for hours itself (README.md).
local sweeps = dofile "tests/support/sweeps.lua"
local test = require "moonrank.test"
local it, check, equal = test.it, test.check, test.equal

local here = sweeps.capture("pwd"):match "[^\n]+"

it("a folder that is no copy is left as it is", function()
  if not sweeps.moonrank then return test.skip "MOONRANK does not name the program" end
  sweeps.in_folder(function(folder)
    os.execute(("mkdir -p %s/docs/own && cd %s && echo a >README.md && echo b >docs/own/notes"):format(folder, folder))
    local list = ("cd %s && find . -type f -exec sha256sum {} + | sort"):format(folder)
    local before = sweeps.capture(list)
    for _, name in ipairs{ folder, folder .. "/", ".", "./docs", "docs/../docs" } do
      local said = sweeps.capture(("cd %s && %s %s/tests/mutants/mutants.lua --copy %s --only none_of_them 2>&1"):format(folder,
        sweeps.moonrank, here, name))
      check(said:find("--copy: " .. name .. " is not empty, and no copy that this made", 1, true), said)
      equal(sweeps.capture(list), before)
    end
  end)
end)
