-- Tests that `moonrank test` gives each test file (spec) a temporary folder, and deletes it at the end.
local core = require "moonrank.core"
local sweeps = dofile "tests/support/sweeps.lua"
local test = require "moonrank.test"
local it, equal, check = test.it, test.equal, test.check

if not sweeps.moonrank then
  it("moonrank test removes the temporary folder of each spec", function()
    test.skip "MOONRANK does not name the program"
  end)
  return
end

-- Runs these test files (specs) in turn. Returns the files that they leave in the folder for temporary files, and the
-- exit status of the last one.
local function left_by(specs)
  local left, status
  sweeps.in_folder(function(folder)
    core.make_folder(folder .. "/tmp/x")
    for i, spec in ipairs(specs) do
      if spec:find "\n" then
        sweeps.write(("%s/%d_spec.lua"):format(folder, i), spec)
        spec = ("%s/%d_spec.lua"):format(folder, i)
      end
      status = select(3, os.execute(("TMPDIR=%s/tmp %s test %s >/dev/null 2>&1"):format(folder, sweeps.moonrank, spec)))
    end
    left = core.list_folder(folder .. "/tmp")
  end)
  return left, status
end

local untidy = [[
local test = require "moonrank.test"
test.it("leaves files", function()
  local first, second = os.tmpname(), os.tmpname()
  test.check(first ~= second and io.open(first), "new files")
  os.execute "cd $(mktemp -d) && mkdir closed && touch closed/file && chmod a-w closed"
  %s
end)
]]

it("moonrank test removes what a spec leaves, if it passes, fails, exits or is interrupted", function()
  for how, expected in pairs{ [""] = 0, ["error 'it fails'"] = 1, ["os.exit(7)"] = 7,
    ["os.execute 'kill -INT $PPID'"] = 0 } do
    local left, status = left_by{ untidy:format(how) }
    equal(left, {}, how)
    equal(status, expected, how)
  end
end)

it("moonrank test gives processes that a spec starts the spec's temporary folder", function()
  local left, status = left_by{ [[
local test = require "moonrank.test"
test.it("starts a process", function()
  local pipe = io.popen "mktemp"
  local name = pipe:read "l"
  pipe:close()
  local folder = os.getenv "TMPDIR"
  test.check(name:sub(1, #folder) == folder and os.tmpname():sub(1, #folder) == folder)
end)
]] }
  equal(left, {})
  equal(status, 0)
end)

it("specs of sweeps, results and models leave no temporary files", function()
  local left = left_by{ "tests/stdlib/moonrank/record_spec.lua", "tests/stdlib/moonrank/models_spec.lua",
    "tests/stdlib/moonrank/system/settings_spec.lua", "tests/stdlib/moonrank/plot_spec.lua" }
  check(#left == 0, table.concat(left, " "))
end)
