-- Tests that tests which run the program (tests/support/program.lua) find it even if the variable MOONRANK is not set.
local test = require "moonrank.test"
local program, sweeps = dofile "tests/support/program.lua", dofile "tests/support/sweeps.lua"

test.it("specs take the program that runs them where MOONRANK is not set", function()
  if not program.moonrank then return test.skip "MOONRANK does not name the program" end
  local code = [[print(dofile("tests/support/program.lua").moonrank)]]
  local found = sweeps.capture(("env -u MOONRANK %s -e '%s'"):format(program.moonrank, code))
  test.equal(found, sweeps.capture("readlink -f " .. program.moonrank))
  test.equal(sweeps.moonrank, program.moonrank)
end)
